//! Modes of an array library that the trace sets: in force while the domain asks the library, undone after the trace.
use crate::domain::{Call, Domain, ModeChange, Operand};
use crate::graph::ForBackend;
use crate::trace::state::outcome::Effect;
use crate::trace::state::process::{BoundCall, ModeInForce};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::Arc;

impl<'py> Tracer<'py> {
    /// Sets a mode now, and in the graph.
    pub(crate) fn switch(&mut self, domain: &Arc<dyn Domain>, switch: ModeChange<'py>) -> Traced<ValueId> {
        let bind = |(callable, args): Call<'py>| -> PyResult<BoundCall> {
            Ok((callable.unbind(), PyTuple::new(self.py, args)?.unbind()))
        };
        let keep = |call: Option<Call<'py>>| call.map(bind).transpose();
        let ModeChange { set: (target, args), named, undo, restore, follows, questions, numbers } = switch;
        let asked = questions.into_iter().map(bind).collect::<PyResult<Vec<_>>>();
        let kept = keep(undo).and_then(|undo| Ok(ModeInForce { undo, questions: asked? }));
        let kept = kept.or_else(|error| internal(error.to_string()))?;
        let restore = keep(restore).or_else(|error| internal(error.to_string()))?;
        let mut operands: Vec<_> = args.iter().cloned().map(Operand::Known).collect();
        for (place, number) in numbers {
            operands[place] = number;
        }
        let keywords: Vec<_> =
            named.iter().map(|(name, value)| (name.clone(), Operand::Known(value.clone()))).collect();
        let called = || {
            let dict = PyDict::new(self.py);
            named.iter().try_for_each(|(name, value)| dict.set_item(name, value))?;
            target.call(PyTuple::new(self.py, &args)?, (!dict.is_empty()).then_some(&dict))
        };
        let gives = called();
        let gives = gives.or_else(|error| self.raise_error(error))?;
        self.state.mode_changes.push(kept);
        if follows {
            let callable = self.constant(target);
            let args = args.into_iter().map(|arg| self.known_or_constant(arg)).collect();
            self.state.effects.push(Effect::Call { callable, args });
            return Ok(self.known_or_constant(gives));
        }
        self.state.restored_modes.extend(restore);
        let set = self.record(domain, target, &operands, &keywords, gives.clone())?;
        let set = self.graph_node(set)?;
        self.state.numbers.modes.insert(set);
        Ok(self.constant(gives))
    }

    /// The value of an object: one from outside, which may be another at each call, is the one at its place, its value guarded.
    fn known_or_constant(&mut self, object: Bound<'py, PyAny>) -> ValueId {
        let known = self.state.identity.get(&(object.as_ptr() as usize)).copied();
        known.unwrap_or_else(|| self.constant(object))
    }

    /// Whether the trace has set what this function tells.
    pub(crate) fn is_switched(&self, question: &Bound<'py, PyAny>, asked: &Bound<'py, PyTuple>) -> bool {
        let mut questions = self.state.mode_changes.iter().flat_map(|mode| &mode.questions);
        questions.any(|(known, args)| question.is(known) && asked.eq(args.bind(self.py)).unwrap_or(false))
    }

    /// Puts back the modes that the trace has set, the last one first.
    pub(crate) fn switch_back(&mut self) -> Traced<()> {
        if self.state.mode_changes.is_empty() {
            return Ok(());
        }
        let mode_changes = std::mem::take(&mut *self.state.mode_changes);
        let sets = self.state.graph.nodes.iter().any(|node| node.backend == ForBackend::Mode);
        let asked: Vec<_> = mode_changes.iter().filter(|_| sets).flat_map(|mode| &mode.questions).collect();
        let left = self.answers(&asked)?;
        for (target, args) in mode_changes.iter().rev().filter_map(|mode_changes| mode_changes.undo.as_ref()) {
            let done = target.bind(self.py).call1(args.bind(self.py));
            done.or_else(|error| internal(format!("a mode cannot be put back: {error}")))?;
        }
        if !left.iter().zip(self.answers(&asked)?).all(|(left, before)| left.eq(before).unwrap_or(false)) {
            self.leave_modes_to_the_graph();
        }
        Ok(())
    }

    /// What functions that tell modes say now.
    fn answers(&self, questions: &[&BoundCall]) -> Traced<Vec<Bound<'py, PyAny>>> {
        let ask = |(question, args): &&BoundCall| question.bind(self.py).call1(args.bind(self.py));
        let answers: PyResult<Vec<_>> = questions.iter().map(ask).collect();
        answers.or_else(|error| internal(format!("a mode cannot be read: {error}")))
    }

    /// The graph ends with another mode than it began with, and what goes on after it relies on that: a backend would set it while it
    /// compiles alone.
    fn leave_modes_to_the_graph(&mut self) {
        for node in self.state.graph.nodes.iter_mut().filter(|node| node.backend == ForBackend::Mode) {
            node.backend = ForBackend::LeavesAlone;
        }
    }
}
