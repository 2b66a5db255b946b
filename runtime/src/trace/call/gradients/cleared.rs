//! Gradients that the trace has taken from leaves before a call that goes back through the graph (`zero_grad`): the graph takes them right
//! before that call, since what the trace has set is set after the graph. Nothing between the two raises.
use crate::domain::{Domain, Operand};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use std::sync::Arc;

impl<'py> Tracer<'py> {
    /// The inputs of the graph whose gradients the trace has taken, with the attribute; `None`: it has set others, or nobody knows of which
    /// inputs.
    pub(crate) fn cleared_gradients(&mut self, domain: &Arc<dyn Domain>) -> Traced<Option<Vec<(ValueId, String)>>> {
        let set = self.state.attributes.iter().filter(|((_, attribute), _)| domain.is_gradient(attribute));
        let mut set: Vec<_> = set.map(|((leaf, attribute), held)| (*leaf, attribute.clone(), *held)).collect();
        set.sort_unstable();
        let mut cleared = Vec::new();
        for (leaf, attribute, held) in set {
            let Some(held) = held else { return Ok(None) };
            if self.state.backward.read.contains(&(leaf, held)) {
                continue;
            }
            let Some(object) = self.real(leaf) else { return Ok(None) };
            if !self.is_none(held)? {
                return Ok(None);
            }
            let is_it = |input: ValueId| self.real(input).is_some_and(|other| other.is(&object));
            match self.state.inputs.iter().find(|(_, input)| is_it(*input)) {
                // No way back leads there.
                None => {}
                Some((_, input)) if *input == leaf => cleared.push((leaf, attribute)),
                Some(_) => return Ok(None),
            }
        }
        Ok(Some(cleared))
    }

    /// A node that takes the gradient of a leaf.
    pub(crate) fn clear_gradient(&mut self, domain: &Arc<dyn Domain>, leaf: ValueId) -> Traced<()> {
        let Some(clear) = domain.clearer(self.py) else { return unsupported("gradients of leaves", "they are set") };
        let operand = Operand::Graph { value: leaf, example: self.example(domain, leaf)?, layout: None };
        let nothing = self.py.None().into_bound(self.py);
        self.record(domain, clear, &[operand], &[], nothing).map(drop)
    }

    /// What the leaf holds after the call is what the call has made: it is set once more after the graph, where it was to be taken.
    pub(crate) fn set_after_clearing(
        &mut self,
        domain: &Arc<dyn Domain>,
        leaf: ValueId,
        attribute: &str,
    ) -> Traced<()> {
        let Some(replayed) = self.replayed_leaf(leaf)? else { return self.leave_backward() };
        match replayed.getattr(attribute) {
            // The call does not come there.
            Ok(made) if made.is_none() => return Ok(()),
            _ => {}
        }
        let Some(gradient) = self.new_gradient(domain, leaf, &replayed)? else { return self.leave_backward() };
        self.state.backward.read.push((leaf, gradient));
        self.log_slot(leaf, attribute, Some(gradient))
    }
}
