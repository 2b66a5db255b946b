//! The attribute of a view that holds what it is a view of: where the graph has made the view, that is a value of the trace.
use crate::domain::Domain;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::Traced;
use crate::trace::state::value::{Value, ValueId};
use pyo3::prelude::*;
use std::sync::Arc;

impl<'py> Tracer<'py> {
    /// What a value of the graph is a view of; `None`: it is not known, or the attribute is another one.
    pub(super) fn base_of_view(
        &mut self,
        domain: &Arc<dyn Domain>,
        object: ValueId,
        name: &str,
    ) -> Traced<Option<ValueId>> {
        let Value::Node { node, .. } = self.value(object) else { return Ok(None) };
        if !domain.is_base(name) || self.state.numbers.open.contains(node) || self.has_taking_modes() {
            return Ok(None);
        }
        let is_fragile = |target: &Py<PyAny>| domain.makes_fragile(target.bind(self.py));
        if self.state.graph.nodes.iter().any(|node| node.target.as_ref().is_some_and(is_fragile)) {
            return Ok(None);
        }
        let example = self.example(domain, object)?;
        match domain.base_of(&example) {
            None => Ok(None),
            Some(None) => Ok(Some(self.none())),
            Some(Some(base)) => match self.value_of_base(&base) {
                Some(value) if self.real(value).is_some() => self.base_from_outside(domain, value, name),
                found => Ok(found),
            },
        }
    }

    /// The value that this stands for, or that is this object.
    fn value_of_base(&self, base: &Bound<'py, PyAny>) -> Option<ValueId> {
        let known = self.state.examples.iter().find(|(_, example)| example.is(base)).map(|(value, _)| *value);
        let is = |value: &Value| match value {
            Value::Node { example, .. } => example.is(base),
            Value::Real { object, .. } => object.is(base),
            Value::New(_) => false,
        };
        known.or_else(|| self.state.values.iter().position(is).map(|at| ValueId(at as u32)))
    }

    /// What is viewed is from outside, and may be a view itself: a guard says whether it is.
    fn base_from_outside(&mut self, domain: &Arc<dyn Domain>, value: ValueId, name: &str) -> Traced<Option<ValueId>> {
        let Some(held) = self.held_by_graph_value(domain, value, name) else { return Ok(None) };
        let class = self.class_of(held)?;
        Ok(Some(if self.domain_of(&class).is_some() { held } else { value }))
    }
}
