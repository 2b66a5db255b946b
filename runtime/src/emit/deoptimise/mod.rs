//! Deoptimisation: where a graph raises, or a lock is not free, the frame runs its original code from the start. Nothing has happened yet.
//!
//! The original code raises what the program raises where the program raises it, under the program's handlers, after the effects that come
//! before. An exception that only the compiled graph raises, and none of the calls that it stands for, is no exception of the program: it
//! leaves the frame.
mod graph_failure;

use super::failure::Failure;
use super::host::Host;
use super::prologue::{Arg, Deoptimisation, TracedFrame};
use super::writer::Writer;
use crate::bytecode::Op;
use crate::bytecode::shape::Bound as Bounded;
use crate::ffi::callable;
use crate::graph::Graph;
use crate::trace::state::value::{Value, ValueId};
use graph_failure::GraphFailure;
pub use graph_failure::{WrongGuess, read_failure, write_failure};
use pyo3::prelude::*;
use std::ops::Range;

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
        failure.aside = self.set_aside_for_graph();
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

    /// The pairs of functions that are called around the graph with nothing: the first of them sets aside what would see it run.
    fn set_aside_for_graph(&self) -> Vec<(Py<PyAny>, Py<PyAny>)> {
        let object = |value: ValueId| match self.outcome.values.get(value.0 as usize) {
            Some(Value::Real { object, .. }) => Some(object.clone_ref(self.py)),
            _ => None,
        };
        let plain = self.outcome.acquired_first.iter().filter(|hold| hold.lock.is_none());
        plain.filter_map(|hold| Some((object(hold.acquire)?, object(hold.release)?))).collect()
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
