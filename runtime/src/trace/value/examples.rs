//! What stands for values of the graph: what was recorded with them, or what a change has made of that.
use crate::domain::Domain;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, unsupported};
use crate::trace::state::value::{Value, ValueId};
use pyo3::prelude::*;
use std::sync::Arc;

impl<'py> Tracer<'py> {
    /// What stands for a value of the graph.
    pub(crate) fn example(&self, domain: &Arc<dyn Domain>, id: ValueId) -> Traced<Bound<'py, PyAny>> {
        if let Some(example) = self.state.examples.get(&id) {
            return Ok(example.bind(self.py).clone());
        }
        if let Value::Node { example, .. } = self.value(id) {
            return Ok(example.bind(self.py).clone());
        }
        let Some(object) = self.at_hand(id) else {
            return unsupported("graph value without an example", "operand");
        };
        for changed in self.state.examples.keys() {
            if self.real(*changed).is_some_and(|changed| domain.follows(&object, &changed)) {
                return unsupported(FOLLOWS, "it came from outside");
            }
        }
        domain.example_of(&object).map_err(Unwind::Break)
    }

    /// From now on `example` stands for a value; breaks where others change with it.
    pub(crate) fn replace_example(
        &mut self,
        domain: &Arc<dyn Domain>,
        id: ValueId,
        example: &Bound<'py, PyAny>,
    ) -> Traced<()> {
        if let Some(object) = self.real(id) {
            let nodes = self.state.values.iter().filter_map(|value| match value {
                Value::Node { example, .. } => Some(example.bind(self.py).clone()),
                _ => None,
            });
            let inputs = self.state.inputs.iter().filter_map(|(_, input)| self.real(*input));
            if nodes.chain(inputs).any(|other| domain.follows(&other, &object)) {
                return unsupported(FOLLOWS, "the graph has it");
            }
        }
        self.state.examples.insert(id, example.clone().unbind());
        Ok(())
    }
}

impl<'py> Tracer<'py> {
    /// From now on `example` stands for objects from outside that were changed in place and have a history since.
    pub(crate) fn begin_histories(
        &mut self,
        domain: &Arc<dyn Domain>,
        written: &[ValueId],
        example: &Bound<'py, PyAny>,
    ) -> Traced<()> {
        let [value] = written else { return Ok(()) };
        if self.real(*value).is_none() || !domain.keeps_history(example) {
            return Ok(());
        }
        let known = self.example(domain, *value)?;
        match domain.keeps_history(&known) {
            true => Ok(()),
            false => self.replace_example(domain, *value, example),
        }
    }
}

const FOLLOWS: &str = "graph value that changes with another one";
