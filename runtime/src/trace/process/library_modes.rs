//! Modes of a library that a trace sets: they are in force for what the domain asks the library during the trace, and put back after it.
use crate::domain::{Call, Domain, ModeChange, Operand};
use crate::trace::state::process::Kept;
use crate::trace::state::process::Switched;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::Arc;

impl<'py> Tracer<'py> {
    /// Sets a mode now, and in the graph.
    pub(crate) fn switch(&mut self, domain: &Arc<dyn Domain>, switch: ModeChange<'py>) -> Traced<ValueId> {
        let keep = |call: Option<Call<'py>>| -> PyResult<Option<Kept>> {
            let Some((callable, args)) = call else { return Ok(None) };
            Ok(Some((callable.unbind(), PyTuple::new(self.py, args)?.unbind())))
        };
        let ModeChange { set: (target, args), undo, question } = switch;
        let kept = keep(undo).and_then(|undo| Ok(Switched { undo, question: keep(question)? }));
        let kept = kept.or_else(|error| internal(error.to_string()))?;
        let operands: Vec<_> = args.iter().cloned().map(Operand::Known).collect();
        let gives = PyTuple::new(self.py, args).and_then(|args| target.call1(args));
        let gives = gives.or_else(|error| self.raise_error(error))?;
        self.state.switched.push(kept);
        self.record(domain, target, &operands, &[], gives.clone())?;
        Ok(self.constant(gives))
    }

    /// Whether the trace has set what this function tells.
    pub(crate) fn is_switched(&self, question: &Bound<'py, PyAny>, asked: &Bound<'py, PyTuple>) -> bool {
        let questions = self.state.switched.iter().filter_map(|switched| switched.question.as_ref());
        questions.into_iter().any(|(known, args)| question.is(known) && asked.eq(args.bind(self.py)).unwrap_or(false))
    }

    /// Puts back the modes that the trace has set, the last one first.
    pub(crate) fn switch_back(&mut self) -> Traced<()> {
        if self.state.switched.is_empty() {
            return Ok(());
        }
        let switched = std::mem::take(&mut *self.state.switched).into_iter().rev();
        for (target, args) in switched.filter_map(|switched| switched.undo) {
            let done = target.bind(self.py).call1(args.bind(self.py));
            done.or_else(|error| internal(format!("a mode cannot be put back: {error}")))?;
        }
        Ok(())
    }
}
