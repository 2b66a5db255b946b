//! Whether a graph break is an error where a trace ends: a library may have programs say so, by a variable that the trace may have set.
use crate::trace::state::outcome::Effect;
use crate::trace::state::tracer::Tracer;
use pyo3::prelude::*;

impl Tracer<'_> {
    /// What the variables of the domains say at the end of the trace.
    pub(crate) fn are_breaks_errors(&self) -> bool {
        let mut switches = self.state.domains.iter().filter_map(|domain| domain.switch_of_breaks(self.py));
        switches.any(|(namespace, variable)| {
            let set = self.state.effects.iter().rev().find_map(|effect| match effect {
                Effect::SetGlobal { globals, name, value } if name == variable => {
                    self.real(*globals).is_some_and(|globals| globals.is(&namespace)).then_some(*value)
                }
                _ => None,
            });
            let value = match set {
                Some(value) => self.real(value),
                None => namespace.get_item(variable).ok().flatten(),
            };
            value.is_some_and(|value| value.is_truthy().unwrap_or(false))
        })
    }
}
