//! A graph that raises, or a lock that is not free: nothing has happened yet, so the frame is handed over, as it began, to its uncompiled code.
//!
//! That raises what the program raises where the program raises it, under the program's handlers, with the effects that come
//! before. What only the compiled graph raises, and none of the calls that it stands for, is no exception of the program: it
//! leaves the frame.
use super::hold::NotFree;
use super::writer::{Arg, Writer, Written};
use super::{Failure, Host};
use crate::bytecode::shape::Bound as Bounded;
use crate::bytecode::{Code, Op};
use crate::ffi::Args;
use crate::ffi::callable::{self, Chosen, Dispatch};
use crate::graph::Graph;
use crate::graph::run::Program;
use crate::names::name;
use crate::trace::interrupted::{self, SIGINT};
use crate::trace::value::ValueId;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::ops::Range;
use std::sync::OnceLock;

/// `RESUME_AFTER_YIELD_FROM`: the one at which the interpreter handles no signals.
pub(super) const BEGUN: u32 = 2;

/// What the prologue does where its call of the graph raises.
#[derive(Debug)]
pub struct Rescue {
    /// The instructions that call the graph.
    pub watched: Range<usize>,
    /// What handles an exception there.
    pub written: Vec<Written>,
}

/// The frame that a prologue is written for.
#[derive(Clone, Copy, Debug)]
pub struct Begun<'a, 'py> {
    /// The function; a continuation's takes its parameters by position.
    pub function: &'a Bound<'py, PyAny>,
    /// The values of its parameters while it was traced.
    pub arguments: &'a [Option<Py<PyAny>>],
}

impl<'py> Writer<'_, 'py> {
    /// Has exceptions of the instructions `watched`, which call the graph with these values, handled.
    pub(super) fn rescued(
        &mut self,
        watched: Range<usize>,
        graph: &Graph,
        inputs: &[ValueId],
        begun: Begun<'_, 'py>,
        host: &dyn Host,
    ) -> Result<Rescue, Failure> {
        let before = self.put_aside(Vec::new());
        self.let_go()?;
        let failed = Failed::new(self.py, graph, begun.function, self.code.is_continuation(self.py))?;
        self.constant(Bound::new(self.py, failed)?.into_any());
        self.plain(Op::SWAP, 2);
        inputs.iter().try_for_each(|input| self.load(*input))?;
        self.plain(Op::BUILD_TUPLE, inputs.len() as u32 + 1);
        let (op, arg) = self.code.isa().subscription();
        self.plain(op, arg);
        self.constant(callable::mark(self.py)?.clone());
        // Nobody waits for the variables of this frame, which go over as they came.
        self.constant(self.py.None().into_bound(self.py));
        let count = self.code.arguments();
        let states = self.begins()?;
        for argument in 0..count {
            let slot = self.place_of_argument(argument);
            let absent = || begun.arguments.get(argument)?.as_ref().filter(|given| given.is(&host.constants().unbound));
            match states.get(slot) {
                Some(Bounded::No) => self.constant(self.py.None().into_bound(self.py)),
                Some(Bounded::Maybe) if absent().is_some() => {
                    self.constant(host.constants().unbound.bind(self.py).clone());
                }
                _ if self.is_boxed(slot) => self.op(Op::LOAD_DEREF, Arg::Slot(slot)),
                _ => self.op(Op::LOAD_FAST, Arg::Slot(slot)),
            }
        }
        self.plain(Op::BUILD_TUPLE, count as u32 + 3);
        self.plain(Op::RETURN_VALUE, 0);
        Ok(Rescue { watched, written: self.put_aside(before) })
    }

    /// What a continuation's slots hold once it has begun; nothing for other frames, where every parameter has a value.
    fn begins(&self) -> Result<Vec<Bounded>, Failure> {
        if !self.code.is_continuation(self.py) {
            return Ok(Vec::new());
        }
        let start = self.code.instrs.iter().position(|instr| instr.op == Op::RESUME).unwrap_or(0);
        Ok(self.code.state_at(start)?.bound)
    }
}

/// Decides what an exception of a graph means: `failed[exception, *inputs]` gives the callable that the packet names.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
struct Failed {
    graph: Program,
    function: Py<PyAny>,
    code: Py<PyAny>,
    continuation: bool,
    whole: OnceLock<Py<PyAny>>,
}

impl Failed {
    fn new(py: Python<'_>, graph: &Graph, function: &Bound<'_, PyAny>, continuation: bool) -> PyResult<Self> {
        let (graph, code) = (Program::new(py, graph), function.getattr(name!("__code__"))?.unbind());
        Ok(Self { graph, function: function.clone().unbind(), code, continuation, whole: OnceLock::new() })
    }

    /// The frame's own code, as what a packet names.
    fn whole<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if let Some(whole) = self.whole.get() {
            return Ok(whole.bind(py).clone());
        }
        let function = self.function.bind(py);
        let named = if self.continuation {
            function.clone()
        } else {
            let mut code = Code::decode(self.code.bind(py))?;
            code.flatten();
            // It has begun already: what waits is handled where the program looks next.
            code.instrs.iter_mut().filter(|instr| instr.op == Op::RESUME).take(1).for_each(|instr| instr.arg = BEGUN);
            super::assemble::like(&code.assemble(py)?, function)?
        };
        let made = callable::new(&named, Box::new(Whole), true)?;
        Ok(self.whole.get_or_init(|| made.unbind()).bind(py).clone())
    }
}

#[pymethods]
impl Failed {
    fn __getitem__<'py>(&self, raised: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        let py = raised.py();
        let error = PyErr::from_value(raised.get_item(0)?);
        if error.is_instance_of::<NotFree>(py) {
            return self.whole(py);
        }
        let again = self.graph.run(&raised.get_slice(1, raised.len())).err();
        let interrupted = interrupted::is_default(py, again.as_ref().unwrap_or(&error));
        if again.is_none() && !interrupted {
            return Err(error);
        }
        let whole = self.whole(py)?;
        if interrupted {
            // Last, for much of what Python does looks for signals.
            interrupted::set_off(py, &[SIGINT])?;
        }
        Ok(whole)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.graph.traverse(&visit)?;
        visit.call(&self.function)?;
        self.whole.get().map_or(Ok(()), |whole| visit.call(whole))
    }
}

/// Runs the function as it is.
struct Whole;

impl Dispatch for Whole {
    fn choose<'py>(&self, _: &Bound<'py, PyAny>, _: Args<'_, 'py>) -> PyResult<Chosen> {
        Ok(Chosen::Original)
    }

    fn traverse(&self, _: &mut dyn FnMut(&Py<PyAny>)) {}

    fn clear(&self) {}
}
