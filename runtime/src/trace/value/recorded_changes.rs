//! Operations that change values of the graph in place, as the graph has them.
use crate::domain::{Answer, Domain, Gives};
use crate::graph::ForBackend;
use crate::trace::state::outcome::GraphChange;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use std::sync::Arc;

impl<'py> Tracer<'py> {
    /// What a call gives that changes operands and makes something.
    pub(super) fn record_both(
        &mut self,
        domain: &Arc<dyn Domain>,
        change: Answer<'py>,
        made: Answer<'py>,
    ) -> Traced<ValueId> {
        match made {
            Answer::Node { example, .. } => self.record_change(domain, change, Some(example)),
            Answer::Parts { example, getitem, itself, .. } => {
                let whole = self.record_change(domain, change, Some(example.clone()))?;
                self.record_parts(domain, whole, &example, (&getitem, &itself), Vec::new().into_iter())
            }
            _ => internal("a call that makes nothing"),
        }
    }

    /// What a change gives; `made`: the call gives something else that is as this.
    pub(super) fn record_change(
        &mut self,
        domain: &Arc<dyn Domain>,
        change: Answer<'py>,
        made: Option<Bound<'py, PyAny>>,
    ) -> Traced<ValueId> {
        let Answer::Change { target, args, kwargs, example, changes, gives } = change else {
            return internal("an answer that changes nothing");
        };
        if !changes.is_empty() || matches!(gives, Gives::Became(_) | Gives::Relaid(_)) {
            self.refuse_change_of_choice()?;
        }
        if !changes.is_empty() {
            self.refuse_change_after()?;
        }
        let written = changes.clone();
        let operands: Vec<_> = changes.into_iter().map(|value| self.graph_node(value)).collect::<Traced<_>>()?;
        if !domain.takes_back_changes() && operands.iter().any(|node| !self.inputs_behind(*node).is_empty()) {
            return unsupported("in-place change of an array", "it came from outside, or may share memory with such");
        }
        if !operands.is_empty() {
            self.refuse_change_of_gradients(domain, &gives, &operands, &example)?;
        }
        let mut finals = Vec::new();
        match gives {
            Gives::Became(value) | Gives::Relaid(value) => self.replace_example(domain, value, &example)?,
            _ => {
                let followed = self.followed(domain, &written, &example)?;
                finals = self.final_changes(&followed);
                self.refuse_followed_change(&followed)?;
                self.begin_histories(domain, &written, &example)?;
            }
        }
        let is_whole = finals.is_empty() || domain.call_effects(&target, &args).raises_first;
        if !is_whole {
            self.keep_final_changes(domain, &target, &finals)?;
        }
        let goes_on = self.state.backend && self.goes_on_with_history(domain, &operands)?;
        let held = self.held_after_change(domain, (&target, &args, &kwargs), &example, &written)?;
        let is_late = !self.state.final_changes.is_empty();
        let makes = made.is_some();
        let changed = self.record(domain, target, &args, &kwargs, made.unwrap_or(example))?;
        self.note_changed(held);
        if is_whole {
            self.state.final_changes.extend(finals);
        }
        if !operands.is_empty() {
            let by = self.graph_node(changed)?;
            if is_late {
                self.refuse_overlaps(domain, &written, by)?;
            }
            if goes_on {
                self.state.graph.nodes[by.0 as usize].backend = ForBackend::LeavesAlone;
            }
            operands.into_iter().for_each(|operand| self.state.changed_by_graph.push(GraphChange { operand, by }));
        }
        if makes {
            return Ok(changed);
        }
        let (Gives::Operand(value) | Gives::Became(value) | Gives::Relaid(value)) = gives else {
            return Ok(self.none());
        };
        // What uses it from now on uses what the change gives: then nobody takes the change for one that nobody needs.
        let node = self.graph_node(changed)?;
        self.state.changed_nodes.insert(value, node);
        Ok(value)
    }
}
