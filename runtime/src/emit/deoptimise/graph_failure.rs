//! What an exception of a graph means.
use crate::bytecode::{Code, Op};
use crate::emit::function_like::function_like;
use crate::emit::locks::NotFree;
use crate::emit::prologue::RESUME_UNINTERRUPTED;
use crate::emit::undo::Saved;
use crate::ffi::Args;
use crate::ffi::callable::{self, Choice, Dispatch};
use crate::ffi::function;
use crate::graph::{Graph, Program};
use crate::names::name;
use crate::stored::{Damaged, In, Misfit, Out};
use crate::trace::os_signals::{self, SIGINT};
use pyo3::exceptions::PyException;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::OnceLock;

pyo3::create_exception!(slotrt, WrongGuess, PyException, "A trace has guessed wrongly what contents of an array are.");

/// Decides what an exception of a graph means: `failure[exception, cells, saved, *inputs]` gives the callable that the packet names.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
pub(super) struct GraphFailure {
    graph: Program,
    function: Py<PyAny>,
    code: Py<PyAny>,
    continuation: bool,
    /// Restore the modes that the graph sets.
    pub(super) modes: Vec<(Py<PyAny>, Py<PyTuple>)>,
    /// Are called before and after the graph, as they were when it raised.
    pub(super) aside: Vec<(Py<PyAny>, Py<PyAny>)>,
    whole: OnceLock<Py<PyAny>>,
}

impl GraphFailure {
    pub(super) fn new(
        py: Python<'_>,
        graph: &Graph,
        function: &Bound<'_, PyAny>,
        continuation: bool,
    ) -> PyResult<Self> {
        let (graph, code) = (Program::new(py, graph), function.getattr(name!("__code__"))?.unbind());
        let function = function.clone().unbind();
        Ok(Self { graph, function, code, continuation, modes: Vec::new(), aside: Vec::new(), whole: OnceLock::new() })
    }

    fn write<'py>(&self, out: &mut Out<'_, 'py>) -> Result<(), Misfit> {
        let py = out.py();
        out.bytes.0.push(u8::from(self.continuation));
        self.graph.write(out)?;
        out.bytes.number(self.modes.len() as u64);
        for (call, args) in &self.modes {
            out.object(call.bind(py))?;
            out.object(args.bind(py).as_any())?;
        }
        out.bytes.number(self.aside.len() as u64);
        for (before, after) in &self.aside {
            out.object(before.bind(py))?;
            out.object(after.bind(py))?;
        }
        Ok(())
    }

    fn read(from: &mut In<'_, '_>, function: &Bound<'_, PyAny>) -> Result<Self, Misfit> {
        let continuation = from.bytes.byte()? != 0;
        let graph = Program::read(from)?;
        let mut modes = Vec::new();
        for _ in 0..from.bytes.count()? {
            let call = from.object()?.unbind();
            modes.push((call, from.object()?.cast_into::<PyTuple>().map_err(|_| Damaged)?.unbind()));
        }
        let mut aside = Vec::new();
        for _ in 0..from.bytes.count()? {
            let before = from.object()?.unbind();
            aside.push((before, from.object()?.unbind()));
        }
        let code = function.getattr(name!("__code__"))?.unbind();
        let function = function.clone().unbind();
        Ok(Self { graph, function, code, continuation, modes, aside, whole: OnceLock::new() })
    }

    /// What the graph raises where it runs once more.
    fn raised_again(&self, inputs: &Bound<'_, PyTuple>) -> PyResult<Option<PyErr>> {
        let py = inputs.py();
        self.aside.iter().try_for_each(|(before, _)| before.bind(py).call0().map(drop))?;
        let raised = self.graph.run(inputs).err();
        self.aside.iter().rev().try_for_each(|(_, after)| after.bind(py).call0().map(drop))?;
        Ok(raised)
    }

    fn restore_modes(&self, py: Python<'_>) {
        for (call, args) in &self.modes {
            // Where the graph had not got to it, there is nothing to restore.
            drop(call.bind(py).call1(args.bind(py)));
        }
    }

    /// The frame's own code, as what a packet names, with the cells that the frame has: functions of one code share what is compiled.
    fn whole<'py>(&self, cells: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        let py = cells.py();
        if let Some(whole) = self.whole.get().filter(|_| cells.is_empty()) {
            return Ok(whole.bind(py).clone());
        }
        let function = self.function.bind(py);
        let named = if self.continuation {
            function.clone()
        } else {
            let mut code = Code::decode(self.code.bind(py))?;
            code.flatten();
            // It has begun already: what waits is handled where the program looks next.
            code.instrs
                .iter_mut()
                .filter(|instr| instr.op == Op::RESUME)
                .take(1)
                .for_each(|instr| instr.arg = RESUME_UNINTERRUPTED);
            function_like(&code.assemble_in_place(py)?, function)?
        };
        if !cells.is_empty() {
            function::set_closure(&named, Some(cells))?;
            return callable::new(&named, Box::new(RunOriginal), true);
        }
        let made = callable::new(&named, Box::new(RunOriginal), true)?;
        Ok(self.whole.get_or_init(|| made.unbind()).bind(py).clone())
    }
}

/// Writes what handles exceptions of a graph; `false`: the object is another.
///
/// # Errors
/// What of it cannot be written.
pub fn write_failure<'py>(object: &Bound<'py, PyAny>, out: &mut Out<'_, 'py>) -> Result<bool, Misfit> {
    let Ok(failure) = object.cast_exact::<GraphFailure>() else { return Ok(false) };
    failure.get().write(out).map(|()| true)
}

/// Reads what [`write_failure`] has written, for this function.
///
/// # Errors
/// What of it is not in this process.
pub fn read_failure<'py>(from: &mut In<'_, 'py>, function: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>, Misfit> {
    let failure = GraphFailure::read(from, function)?;
    Ok(Bound::new(from.py(), failure)?.into_any())
}

#[pymethods]
impl GraphFailure {
    fn __getitem__<'py>(&self, raised: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        let py = raised.py();
        let error = PyErr::from_value(raised.get_item(0)?);
        let cells = raised.get_item(1)?.cast_into::<PyTuple>()?;
        if error.is_instance_of::<NotFree>(py) {
            return self.whole(&cells);
        }
        let saved = raised.get_item(2)?;
        let saved = saved.cast::<Saved>().ok();
        let restore = || {
            self.restore_modes(py);
            saved.as_ref().map_or(Ok(()), |saved| saved.get().restore(py))
        };
        // What was changed before a guess is saved each time.
        let is_guess = error.is_instance_of::<WrongGuess>(py);
        if saved.as_ref().is_some_and(|saved| !saved.get().is_whole(py)) && !is_guess {
            // Nothing may run again: the graph has changed what was not saved.
            self.restore_modes(py);
            return Err(error);
        }
        if restore().is_err() {
            return Err(error);
        }
        if is_guess {
            return self.whole(&cells);
        }
        let again = self.raised_again(&raised.get_slice(3, raised.len()))?;
        restore()?;
        let interrupted = os_signals::is_default(py, again.as_ref().unwrap_or(&error));
        if again.is_none() && !interrupted {
            return Err(error);
        }
        let whole = self.whole(&cells)?;
        if interrupted {
            // Last, for much of what Python does looks for signals.
            os_signals::set_off(py, &[SIGINT])?;
        }
        Ok(whole)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.graph.traverse(&visit)?;
        visit.call(&self.function)?;
        self.modes.iter().try_for_each(|(call, _)| visit.call(call))?;
        self.aside.iter().try_for_each(|(before, after)| visit.call(before).and_then(|()| visit.call(after)))?;
        self.whole.get().map_or(Ok(()), |whole| visit.call(whole))
    }
}

/// Runs the function as it is.
struct RunOriginal;

impl Dispatch for RunOriginal {
    fn choose<'py>(&self, _: &Bound<'py, PyAny>, _: Args<'_, 'py>) -> PyResult<Choice> {
        Ok(Choice::Original)
    }

    fn traverse(&self, _: &mut dyn FnMut(&Py<PyAny>)) {}

    fn clear(&self) {}
}
