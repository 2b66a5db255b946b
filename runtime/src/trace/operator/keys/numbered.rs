//! Dicts from outside whose keys are integers that differ from call to call, as numbers of handles do: the trace goes through them by position, and
//! a key that it looks for is compared with each of theirs.
use crate::ffi::{containers, ordered_dict};
use crate::guard::source::{Source, keys_key};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt};
use std::sync::Arc;

/// How many keys one is compared with.
const MOST_COMPARED: usize = 16;

impl<'py> Tracer<'py> {
    /// Whether it is such a dict, or an `OrderedDict`: an earlier call found as many other keys.
    pub(in crate::trace::operator) fn has_changing_keys(&self, value: ValueId) -> bool {
        let numbers = &self.state.numbers;
        if numbers.changing.keys.is_empty() {
            return false;
        }
        let (Some(object), Some(source)) = (self.real(value), self.source(value)) else { return false };
        let key = keys_key(source.key());
        numbers.changing.keys.contains(&key) && !numbers.fixed.contains_key(&key) && has_numbers_as_keys(&object)
    }

    /// Where a dict has an integer that may be another one at another call, if anywhere: it is compared with each key, so that it stays one that
    /// may differ. `None`: it is another object, or dict.
    fn place_of_number(&mut self, dict: ValueId, given: ValueId) -> Traced<Option<Option<usize>>> {
        let (Some(object), Some(source)) = (self.real(dict), self.source(dict)) else { return Ok(None) };
        let is_number = self.is_symbolic(given) && !self.is_unread(given);
        if !is_number || !has_numbers_as_keys(&object) || !self.class_of(given)?.is(self.py.get_type::<PyInt>()) {
            return Ok(None);
        }
        let few = containers::builtin_length(&object).is_some_and(|length| length <= MOST_COMPARED);
        if !few || self.changed_length(dict)?.is_some() {
            return Ok(None);
        }
        self.class_of(dict)?;
        for (place, key) in self.keys_of(dict, &object, &source)?.into_iter().enumerate() {
            let is_equal = self.operator("eq", &[given, key])?;
            if self.is_true(is_equal)? {
                return Ok(Some(Some(place)));
            }
        }
        Ok(Some(None))
    }

    /// What an operator of C gives for such a key; `None`: it is another, or the dict is.
    pub(in crate::trace::operator) fn read_by_number(
        &mut self,
        operator: &str,
        dict: ValueId,
        given: ValueId,
        default: Option<ValueId>,
    ) -> Traced<Option<ValueId>> {
        let Some(place) = self.place_of_number(dict, given)? else { return Ok(None) };
        match (operator, place) {
            ("contains", place) => Ok(Some(self.boolean(place.is_some()))),
            ("getitem" | "get", Some(place)) => {
                let (Some(object), Some(source)) = (self.real(dict), self.source(dict)) else { return Ok(None) };
                let values = containers::values(&object).or_else(|error| internal(error.to_string()))?;
                let value = values.get_item(place).or_else(|error| internal(error.to_string()))?;
                let path = Source::Item(Arc::new(Source::Values(Arc::new(source))), place);
                Ok(Some(self.sourced(value, path)))
            }
            ("get", None) => Ok(Some(default.unwrap_or_else(|| self.none()))),
            ("getitem", None) => self.raise_key_error(given).map(Some),
            _ => Ok(None),
        }
    }
}

/// Whether it is a dict, or an `OrderedDict`, whose keys are integers.
fn has_numbers_as_keys(object: &Bound<'_, PyAny>) -> bool {
    let are_numbers = |dict: &Bound<'_, PyDict>| dict.keys().iter().all(|key| key.is_exact_instance_of::<PyInt>());
    ordered_dict::exact(object).is_some_and(are_numbers)
}
