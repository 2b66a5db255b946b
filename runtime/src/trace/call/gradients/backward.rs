//! Calls that go back through the graph and give leaves their gradients. Nothing takes that back: where something sets a gradient, or may
//! raise, the trace is made again, and such a call runs natively.
use crate::domain::{Domain, Operand};
use crate::guard::Check;
use crate::guard::source::Source;
use crate::names::name;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, unsupported};
use crate::trace::state::value::{Value, ValueId};
use crate::trace::value::inputs_in_memory::InputsInMemory;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::Arc;

impl<'py> Tracer<'py> {
    /// Records such a call, which gives `None`.
    pub(crate) fn record_backward(
        &mut self,
        domain: &Arc<dyn Domain>,
        target: Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> Traced<ValueId> {
        let cleared = if self.state.backward.are_native { None } else { self.cleared_gradients(domain)? };
        let Some(cleared) = cleared else {
            return match domain.leaves_alone(&target) {
                Some(reason) => Err(Unwind::Break(reason)),
                None => unsupported("gradients of leaves", "they are set"),
            };
        };
        if self.replaces_gradients(domain)? || !self.keeps_what_goes_back(domain)? {
            return self.leave_backward();
        }
        for (leaf, _) in &cleared {
            self.clear_gradient(domain, *leaf)?;
        }
        let made = self.record(domain, target, args, kwargs, self.py.None().into_bound(self.py))?;
        let node = self.graph_node(made)?;
        self.state.backward.nodes.push(node);
        self.state.backward.taken.clear();
        let replayed = self.state.backward.rehearsed.take().map(|replayed| (node, replayed));
        *self.state.backward.replayed = replayed;
        self.state.final_changes.push(node);
        for (leaf, attribute) in cleared {
            self.set_after_clearing(domain, leaf, &attribute)?;
        }
        Ok(self.none())
    }

    /// Whether what the graph has changed of its inputs cannot be what it has kept of others for the way back: then PyTorch refuses to go on
    /// halfway, and what stands for the inputs, each alone, does not tell.
    fn keeps_what_goes_back(&mut self, domain: &Arc<dyn Domain>) -> Traced<bool> {
        if self.state.changed_by_graph.is_empty() {
            return Ok(true);
        }
        let InputsInMemory { objects, sources, are_marked: changed } = self.inputs_by_change();
        if objects.len() < 2 || !changed.contains(&true) {
            return Ok(true);
        }
        let objects = PyTuple::new(self.py, objects).or_else(|error| self.raise_error(error))?;
        let Some(check) = domain.storage_guard(&objects, changed) else { return Ok(false) };
        let why = "the graph goes back after it has changed inputs";
        self.guard(Source::Together(sources.into()), Check::Domain(check), why);
        Ok(true)
    }

    /// Makes the trace again, so that such calls run natively.
    pub(crate) fn leave_backward<T>(&mut self) -> Traced<T> {
        self.state.backward.giving_up = true;
        Err(Unwind::Specialise)
    }

    /// Does so where an attribute is set that such a call of the graph has set, unless the gradient is taken away.
    pub(crate) fn refuse_after_backward(
        &mut self,
        domain: &Arc<dyn Domain>,
        leaf: ValueId,
        attribute: &str,
        value: Option<ValueId>,
    ) -> Traced<()> {
        if self.state.backward.nodes.is_empty() || !domain.is_gradient(attribute) {
            return Ok(());
        }
        let takes = value.map_or(Ok(false), |value| self.is_none(value))?;
        if !takes || matches!(self.value(leaf), Value::Node { .. }) {
            return self.leave_backward();
        }
        self.state.backward.read.retain(|(of, _)| *of != leaf);
        self.state.backward.taken.push(leaf);
        Ok(())
    }

    /// Relies on it that inputs of the graph have no functions of the program which are called on the way back.
    pub(crate) fn rely_on_unseen_gradients(&mut self, domain: &Arc<dyn Domain>) -> Traced<()> {
        let inputs: Vec<_> = self.state.inputs.iter().map(|(_, value)| *value).collect();
        for value in inputs {
            let (Some(object), Some(source)) = (self.real(value), self.source(value)) else { continue };
            for attribute in domain.hooks_of(&object) {
                let source = Source::Attr(Arc::new(source.clone()), (*attribute).into());
                let is_there = self.state.guards.iter().any(|guard| guard.source == source);
                if !is_there {
                    let without =
                        crate::ffi::modules::import(self.py, "operator").and_then(|room| room.getattr(name!("not_")));
                    let without = without.or_else(|error| self.raise_error(error))?;
                    let why = "the trace relied on it that no function sees the gradient";
                    self.guard(source, Check::Call(without.unbind()), why);
                }
            }
        }
        Ok(())
    }
}
