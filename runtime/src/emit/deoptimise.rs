//! Deoptimisation: where a graph raises, or a lock is not free, the frame runs its original code from the start. Nothing has happened yet.
//!
//! The original code raises what the program raises where the program raises it, under the program's handlers, after the effects that come
//! before. An exception that only the compiled graph raises, and none of the calls that it stands for, is no exception of the program: it
//! leaves the frame.
use super::failure::Failure;
use super::function_like::function_like;
use super::host::Host;
use super::locks::NotFree;
use super::prologue::{Arg, Deoptimisation, RESUME_UNINTERRUPTED, TracedFrame};
use super::undo::Saved;
use super::writer::Writer;
use crate::bytecode::shape::Bound as Bounded;
use crate::bytecode::{Code, Op};
use crate::ffi::Args;
use crate::ffi::callable::{self, Choice, Dispatch};
use crate::ffi::function;
use crate::graph::{Graph, Program};
use crate::names::name;
use crate::stored::{Damaged, In, Misfit, Out};
use crate::trace::os_signals::{self, SIGINT};
use crate::trace::state::value::ValueId;
use pyo3::exceptions::PyException;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::ops::Range;
use std::sync::OnceLock;

pyo3::create_exception!(slotrt, WrongGuess, PyException, "A trace has guessed wrongly what contents of an array are.");

/// What the graph was called with.
#[derive(Clone, Copy)]
pub(super) struct Inputs<'a> {
    /// Its inputs.
    pub(super) values: &'a [ValueId],
    /// The temporary that holds what was saved before.
    pub(super) saved: Option<usize>,
}

impl<'py> Writer<'_, 'py> {
    /// Has exceptions of the instructions `watched`, which call the graph with these values, handled.
    pub(super) fn deoptimise(
        &mut self,
        watched: Range<usize>,
        graph: &Graph,
        inputs: Inputs<'_>,
        frame: TracedFrame<'_, 'py>,
        host: &dyn Host,
    ) -> Result<Deoptimisation, Failure> {
        let before = self.replace_written(Vec::new());
        self.release_locks()?;
        let mut failure = GraphFailure::new(self.py, graph, frame.function, self.code.is_continuation(self.py))?;
        let modes = self.outcome.modes.iter().rev();
        failure.modes = modes.map(|(call, args)| (call.clone_ref(self.py), args.clone_ref(self.py))).collect();
        self.constant(Bound::new(self.py, failure)?.into_any());
        self.plain(Op::SWAP, 2);
        let free = if self.code.is_continuation(self.py) { 0 } else { self.code.locals.len() - self.code.first_free() };
        (0..free).for_each(|cell| self.op(Op::LOAD_FAST, Arg::Slot(self.code.first_free() + cell)));
        self.build_tuple(free as u32);
        match inputs.saved {
            Some(temporary) => self.op(Op::LOAD_FAST, Arg::Temporary(temporary)),
            None => self.constant(self.py.None().into_bound(self.py)),
        }
        inputs.values.iter().try_for_each(|input| self.load(*input))?;
        self.plain(Op::BUILD_TUPLE, inputs.values.len() as u32 + 3);
        let (op, arg) = self.code.isa().subscription();
        let asks = self.written.len();
        self.plain(op, arg);
        self.constant(callable::mark(self.py)?.clone());
        // No frame object outlives this frame: its arguments go over as they came.
        self.constant(self.py.None().into_bound(self.py));
        let count = self.code.arguments();
        let states = self.states_at_start()?;
        for argument in 0..count {
            let slot = self.place_of_argument(argument);
            let absent = || frame.arguments.get(argument)?.as_ref().filter(|given| given.is(&host.constants().unbound));
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
        let written = self.replace_written(Vec::new());
        self.constant(host.constants().passed_once(self.py));
        self.plain(Op::SWAP, 2);
        self.plain(op, arg);
        // Whoever sees the frame sees its own variables.
        self.clear_temporaries();
        for slot in self.code.brought(self.py) {
            self.plain(Op::PUSH_NULL, 0);
            self.op(Op::STORE_FAST, Arg::Slot(slot));
        }
        self.plain(Op::RERAISE, 0);
        let leaves = self.replace_written(before);
        Ok(Deoptimisation { watched, written, asks, leaves })
    }

    /// What a continuation's slots hold once it has begun; nothing for other frames, where every parameter has a value.
    fn states_at_start(&self) -> Result<Vec<Bounded>, Failure> {
        if !self.code.is_continuation(self.py) {
            return Ok(Vec::new());
        }
        let start = self.code.start().unwrap_or(0);
        Ok(self.code.state_at(start)?.bound)
    }
}

/// Decides what an exception of a graph means: `failure[exception, cells, saved, *inputs]` gives the callable that the packet names.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
struct GraphFailure {
    graph: Program,
    function: Py<PyAny>,
    code: Py<PyAny>,
    continuation: bool,
    /// Restore the modes that the graph sets.
    modes: Vec<(Py<PyAny>, Py<PyTuple>)>,
    whole: OnceLock<Py<PyAny>>,
}

impl GraphFailure {
    fn new(py: Python<'_>, graph: &Graph, function: &Bound<'_, PyAny>, continuation: bool) -> PyResult<Self> {
        let (graph, code) = (Program::new(py, graph), function.getattr(name!("__code__"))?.unbind());
        let function = function.clone().unbind();
        Ok(Self { graph, function, code, continuation, modes: Vec::new(), whole: OnceLock::new() })
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
        let code = function.getattr(name!("__code__"))?.unbind();
        let function = function.clone().unbind();
        Ok(Self { graph, function, code, continuation, modes, whole: OnceLock::new() })
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
        let again = self.graph.run(&raised.get_slice(3, raised.len())).err();
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
