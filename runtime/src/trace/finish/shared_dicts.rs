//! Attributes that are entries of a dict, too: a change of an instance's attributes does not show in its `__dict__` where the trace reached
//! that over another path, nor in another instance that has the same one.
use crate::guard::Check;
use crate::guard::source::Source;
use crate::trace::attribute::descriptors::{held_dict, own_dict_allowed};
use crate::trace::state::materialised::Escape;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::value::{Value, ValueId, ValueSet};
use pyo3::prelude::*;
use pyo3::types::PyDict;

const WHY: &str = "the trace changed attributes, or a dict";

/// A value from outside that has entries: a dict, or an instance with attributes.
struct Holder<'py> {
    value: ValueId,
    object: Bound<'py, PyAny>,
    source: Source,
    changed: bool,
    /// The dict with the attributes of an instance.
    attributes: Option<Bound<'py, PyAny>>,
}

impl<'py> Tracer<'py> {
    /// Guards that what the trace has changed is kept in no dict of another value; an escape where it is.
    pub(crate) fn guard_shared_dicts(&mut self) -> Option<Escape> {
        let changed = self.changed_holders();
        changed.iter().next()?;
        let holders = self.holders(&changed);
        for (index, one) in holders.iter().enumerate() {
            let Some(attributes) = &one.attributes else { continue };
            for other in &holders {
                if !one.changed && !other.changed {
                    continue;
                }
                if other.object.is_instance_of::<PyDict>() {
                    if other.object.is(attributes) {
                        return Some(self.reached_twice(one.value.max(other.value)));
                    }
                    self.guard(other.source.clone(), Check::NotSameAs(Source::Dict(one.source.clone().into())), WHY);
                }
            }
            let alike = |other: &&Holder<'py>| {
                (one.changed || other.changed) && other.object.get_type().is(one.object.get_type())
            };
            for other in holders[index + 1..].iter().filter(alike) {
                if other.attributes.as_ref().is_some_and(|found| found.is(attributes)) && !other.object.is(&one.object)
                {
                    return Some(self.reached_twice(one.value.max(other.value)));
                }
                let other = Source::Dict(other.source.clone().into());
                self.guard(Source::Dict(one.source.clone().into()), Check::NotSameAs(other), WHY);
            }
        }
        None
    }

    fn holders(&self, changed: &ValueSet) -> Vec<Holder<'py>> {
        let seen = |value: &ValueId| changed.contains(*value) || self.is_looked_at(*value);
        let values = (0..self.state.values.len() as u32).map(ValueId).filter(seen);
        let objects: Vec<_> = changed.iter().filter_map(|value| self.real(value)).collect();
        // To ask an instance for its dict makes one; most have no need of it.
        let concerned = |object: &Bound<'py, PyAny>| {
            objects.iter().any(|changed| changed.is_instance_of::<PyDict>() || changed.get_type().is(object.get_type()))
        };
        values.filter_map(|value| self.holder(value, changed.contains(value), &concerned)).collect()
    }

    fn holder(
        &self,
        value: ValueId,
        changed: bool,
        concerned: &dyn Fn(&Bound<'py, PyAny>) -> bool,
    ) -> Option<Holder<'py>> {
        let Value::Real { object, source: Some(source) } = self.value(value) else { return None };
        let object = object.bind(self.py).clone();
        // What stands for the attributes of an instance is found with that.
        if matches!(source, Source::Dict(_)) {
            return None;
        }
        let class = object.get_type();
        let attributes = (concerned(&object) && !crate::ffi::types::is_c_type(&class) && own_dict_allowed(&class))
            .then(|| held_dict(&object).map(Bound::into_any))
            .flatten();
        let holds = attributes.is_some() || object.is_instance_of::<PyDict>();
        holds.then(|| Holder { value, object, source: source.clone(), changed, attributes })
    }

    fn reached_twice(&self, value: ValueId) -> Escape {
        let step = self.state.created_at.get(value.0 as usize).copied().unwrap_or(0).saturating_sub(1);
        Escape { step, what: "a __dict__ that is reached over two paths".into() }
    }
}
