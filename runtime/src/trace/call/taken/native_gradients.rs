//! Functions with gradients of their own that get wrappers: the trace has gone through `forward`, and the graph calls the function as it is.
use crate::domain::{Domain, Operand};
use crate::graph::NodeId;
use crate::trace::call::rehearsal::Applied;
use crate::trace::call::taken::native::Parts;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::numbers::TakenNumbers;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal, unsupported};
use crate::trace::state::value::{Value, ValueId};
use pyo3::prelude::*;
use std::sync::Arc;

const KIND: &str = "function with gradients of its own that gets wrappers";

impl<'py> Tracer<'py> {
    /// The graph calls it; `dropped` are the nodes of its `forward`.
    pub(crate) fn apply_to_wrappers(
        &mut self,
        domain: &Arc<dyn Domain>,
        apply: Bound<'py, PyAny>,
        args: &Arguments,
        applied: &Applied,
        dropped: &[NodeId],
    ) -> Traced<ValueId> {
        if self.state.changed_by_graph.iter().any(|change| dropped.contains(&change.by)) {
            return unsupported(KIND, "it changes an argument in place");
        }
        let marked = self.get_attr(applied.context, "non_differentiable")?;
        if self.known(marked).is_none_or(|marked| !marked.is_none()) {
            return unsupported(KIND, "it marks results");
        }
        let Some(dispatching) = domain.dispatching() else { return internal("a library without such classes") };
        let like = match self.value(applied.result) {
            Value::Node { node, example, .. } if dropped.contains(node) => example.bind(self.py).clone(),
            _ => return unsupported(KIND, "it does not give a new tensor"),
        };
        if !domain.claims(&domain.class_of(&like)) {
            return unsupported(KIND, "it does not give a new tensor");
        }
        let example =
            dispatching.example_followed(&like, applied.needed).or_else(|error| internal(error.to_string()))?;
        let Some(example) = example else { return unsupported(KIND, "it does not give a new tensor") };
        let (mut operands, mut named) = (Vec::new(), Vec::new());
        for value in &args.positional {
            operands.push(self.applied_operand(domain, *value)?);
        }
        for (name, value) in &args.keywords {
            named.push((name.clone(), self.applied_operand(domain, *value)?));
        }
        let made = self.record(domain, apply, &operands, &named, example)?;
        let mut parts = Parts::default();
        parts.insert(applied.result, made);
        self.give_attributes(domain, applied.result, made, &mut parts)?;
        Ok(made)
    }

    fn applied_operand(&mut self, domain: &Arc<dyn Domain>, value: ValueId) -> Traced<Operand<'py>> {
        let class = self.class_of(value)?;
        match domain.claims(&class) {
            true => self.wrapper_operand(domain, value),
            false => self.operand_of(value, TakenNumbers::None),
        }
    }
}
