//! Calls that change what a library will do with values of the graph later, not what they are: compiled code makes them after the graph.
use crate::domain::Operand;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::numbers::TakenNumbers;
use crate::trace::state::outcome::Effect;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, unsupported};
use crate::trace::state::value::{LATER_HANDLE, New, Value, ValueId};
use pyo3::prelude::*;

impl<'py> Tracer<'py> {
    /// What such a call gives; `None`: it is another. What a backend makes of a graph may go other ways than through the value.
    pub(crate) fn call_after_graph(
        &mut self,
        function: &Bound<'py, PyAny>,
        args: &Arguments,
    ) -> Traced<Option<ValueId>> {
        let Some(value) = args.positional.first().filter(|_| args.keywords.is_empty() && !self.state.backend) else {
            return Ok(None);
        };
        if !self.state.domains.iter().any(|domain| domain.is_called_after(function)) {
            return Ok(None);
        }
        let class = self.class_of(*value)?;
        let Some(domain) = self.domain_of(&class).filter(|_| !self.has_taking_modes()) else { return Ok(None) };
        if domain.takes_over(&class) {
            return Ok(None);
        }
        self.rely_on_surroundings(&domain)?;
        let Operand::Graph { example, .. } = self.operand_of(*value, TakenNumbers::None)? else { return Ok(None) };
        let Some(gives) = domain.called_after(function, &example, args.positional.len()) else { return Ok(None) };
        let callable = self.constant(function.clone());
        self.state.effects.push(Effect::Call { callable, args: args.positional.clone() });
        self.state.used_after.push(*value);
        Ok(Some(if gives { self.push(Value::New(New::Opaque(LATER_HANDLE))) } else { self.none() }))
    }

    /// Breaks where an operation changes something after such a call: the value would be another one then.
    pub(crate) fn refuse_change_after(&self) -> Traced<()> {
        match self.state.used_after.is_empty() {
            true => Ok(()),
            false => unsupported("change of a value", "after a call that is made when the graph has run"),
        }
    }
}
