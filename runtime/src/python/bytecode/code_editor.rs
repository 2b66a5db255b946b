//! `slotrt.bytecode.Code`: a decoded code object to edit from Python.
use crate::bytecode::{Code, Error, Instr, Label, Position, Problem};
use generated::opcodes::Op;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A decoded code object. Instructions have labels, which stay as others come and go; jumps and exception handlers refer to
/// labels. `assemble` makes a code object: inline caches, `EXTENDED_ARG`s, jump distances, the exception table, the line
/// table and the stack size follow from the instructions.
#[pyclass(frozen, name = "Code", module = "slotrt.bytecode")]
pub(super) struct Editor(Mutex<Code>);

/// Label, name, argument, target's label (of jumps), handler's label, line (-1: none).
type Row = (u32, &'static str, u32, Option<u32>, Option<u32>, i32);

fn row(instr: &Instr) -> Row {
    let target = instr.target.map(|label| label.0);
    let handler = instr.handler.map(|handler| handler.target.0);
    (instr.id.0, instr.op.name(), instr.arg, target, handler, instr.position.line)
}

impl Editor {
    fn code(&self) -> MutexGuard<'_, Code> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn outside(index: usize, len: usize) -> PyErr {
    PyIndexError::new_err(format!("instruction {index} of {len}"))
}

fn known(code: &Code, label: u32) -> PyResult<Label> {
    let label = Label(label);
    let found = code.index(label).map(|_| label);
    found.ok_or_else(|| Error::new(0, Problem::UnknownLabel(label.0)).into())
}

#[pymethods]
impl Editor {
    #[new]
    fn new(code: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self(Mutex::new(Code::decode(code)?)))
    }

    fn __len__(&self) -> usize {
        self.code().instrs.len()
    }

    /// A tuple for each instruction: label, name, argument, label jumped to, label of the exception handler, line.
    fn instructions(&self) -> Vec<Row> {
        self.code().instrs.iter().map(row).collect()
    }

    /// Inserts an instruction before the one at `index`, whose position and handler it takes over; gives its label. Jumps to
    /// that one still go to it, past the new one. `target` is the label that a jump goes to.
    #[pyo3(signature = (index, name, arg = 0, *, target = None))]
    fn insert(&self, index: usize, name: &str, arg: u32, target: Option<u32>) -> PyResult<u32> {
        let mut code = self.code();
        let unknown = || Error::new(0, Problem::Object(format!("{name} is no instruction of this release")));
        let isa = code.isa();
        let written = |op: Op| isa.number(op).is_some_and(|number| isa.op(number) == Some(op));
        let op = Op::ALL.iter().copied().find(|op| op.name() == name && written(*op));
        let op = op.filter(|op| !matches!(op, Op::CACHE | Op::EXTENDED_ARG)).ok_or_else(unknown)?;
        if index > code.instrs.len() {
            return Err(outside(index, code.instrs.len()));
        }
        if isa.jumps(op) != target.is_some() {
            let problem = Problem::Object(format!("{name} takes a target if, and only if, it is a jump"));
            return Err(Error::new(0, problem).into());
        }
        let target = target.map(|label| known(&code, label)).transpose()?;
        let beside = code.instrs.get(index).or_else(|| code.instrs.last());
        let (position, handler) = beside.map_or((Position::NONE, None), |instr| (instr.position, instr.handler));
        let instr = Instr { target, position, handler, ..code.instr(op, arg) };
        code.insert(index, [instr]);
        Ok(instr.id.0)
    }

    /// Deletes the instruction at `index`; jumps and handlers to it go to the one after it.
    fn delete(&self, index: usize) -> PyResult<()> {
        let mut code = self.code();
        if index >= code.instrs.len() {
            return Err(outside(index, code.instrs.len()));
        }
        code.delete(index);
        Ok(())
    }

    /// Moves the instructions from `start` up to `stop` before the one that is at `to` now; jumps to them follow.
    #[pyo3(name = "move")]
    fn relocate(&self, start: usize, stop: usize, to: usize) -> PyResult<()> {
        let mut code = self.code();
        let len = code.instrs.len();
        if let Some(index) = [start, stop, to].into_iter().find(|index| *index > len) {
            return Err(outside(index, len));
        }
        if start > stop || (start < to && to < stop) {
            return Err(PyIndexError::new_err(format!("{start} to {stop} cannot go before {to}")));
        }
        code.relocate(start..stop, to);
        Ok(())
    }

    /// Sends every jump and handler that goes to the label `old` to the label `new`.
    fn retarget(&self, old: u32, new: u32) -> PyResult<()> {
        let mut code = self.code();
        let (old, new) = (known(&code, old)?, known(&code, new)?);
        code.retarget(old, new);
        Ok(())
    }

    /// Index of the object in `co_consts`, appended if it is not there.
    fn constant(&self, object: &Bound<'_, PyAny>) -> u32 {
        self.code().constant(object)
    }

    /// Index of the name in `co_names`, appended if it is not there.
    fn name(&self, name: &str) -> u32 {
        self.code().name_index(name)
    }

    /// Adds a local variable and gives its index; cells and free variables move up.
    fn local(&self, name: &str) -> u32 {
        self.code().add_local(name)
    }

    /// The code object.
    fn assemble<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.code().assemble(py)?)
    }
}
