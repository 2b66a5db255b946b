//! What may be known of a container or a scalar from outside without its contents: length, truth, items one by one.
use crate::ffi::ordered_dict;
use crate::guard::Check;
use crate::guard::source::Source;
use crate::trace::state::guard_requests::GuardRequest;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::Traced;
use crate::trace::state::value::{Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PySet, PyString, PyTuple};
use std::sync::Arc;

impl<'py> Tracer<'py> {
    /// A container or text of an exact builtin class that the trace has neither copied nor looked into, with its path.
    fn unread(&self, value: ValueId) -> Option<(Bound<'py, PyAny>, Source)> {
        const READ: GuardRequest = GuardRequest::EQUALS.union(GuardRequest::IS);
        let Value::Real { object, source: Some(source) } = self.value(value) else { return None };
        let read = self.state.private_copies.of(value).is_some()
            || self.is_namespace(value)
            || self.state.guard_requests.has_any(value, READ);
        (!read).then(|| (object.bind(self.py).clone(), source.clone()))
    }

    /// Whether it is such a container or text.
    pub(crate) fn is_unread_whole(&self, value: ValueId) -> bool {
        self.unread(value).is_some()
    }

    /// The length of such a container: no guard asks what it holds.
    pub(crate) fn unread_length(&mut self, value: ValueId) -> Traced<Option<usize>> {
        self.settle_appends(value)?;
        let Some((object, source)) = self.unread(value) else {
            self.refuse_changed_entries(value)?;
            return Ok(None);
        };
        let sized = is_sequence(&object)
            || object.is_exact_instance_of::<PyDict>()
            || ordered_dict::exact(&object).is_some()
            || object.is_exact_instance_of::<PySet>()
            || object.is_exact_instance_of::<PyString>()
            || object.is_exact_instance_of::<PyBytes>()
            || object.is_exact_instance_of::<PyByteArray>();
        let Some(length) = sized.then(|| object.len().ok()).flatten() else { return Ok(None) };
        let changed = self.changed_length(value)?;
        self.class_of(value)?;
        self.guard_once(value, GuardRequest::LENGTH, source, Check::Length(length), "the trace asked for the length");
        Ok(Some(changed.unwrap_or(length)))
    }

    /// The truth of such a container, or of a number.
    pub(crate) fn unread_truth(&mut self, value: ValueId) -> Traced<Option<bool>> {
        if let Some(truth) = self.truth_of_growing(value)? {
            return Ok(Some(truth));
        }
        let Some((object, source)) = self.unread(value) else { return Ok(None) };
        let scalar = object.is_exact_instance_of::<PyInt>()
            || object.is_exact_instance_of::<PyFloat>()
            || object.is_exact_instance_of::<PyString>()
            || object.is_exact_instance_of::<PyBytes>();
        if !scalar {
            return Ok(self.unread_length(value)?.map(|length| length > 0));
        }
        let Ok(truth) = object.is_truthy() else { return Ok(None) };
        self.class_of(value)?;
        self.guard_once(value, GuardRequest::TRUTH, source, Check::Truth(truth), "the trace branched on the truth");
        Ok(Some(truth))
    }

    /// The first items of such a tuple or list, each reached over its own path; without a limit, all.
    pub(crate) fn unread_items(&mut self, value: ValueId, limit: Option<usize>) -> Traced<Option<Vec<ValueId>>> {
        self.settle_appends(value)?;
        let Some((object, source)) = self.unread(value).filter(|(object, _)| is_sequence(object)) else {
            return Ok(None);
        };
        let Some(length) = self.unread_length(value)? else { return Ok(None) };
        let (source, count) = (Arc::new(source), limit.map_or(length, |limit| limit.min(length)));
        let items = (0..count).map_while(|index| {
            let item = object.get_item(index).ok()?;
            Some(self.sourced(item, Source::Item(Arc::clone(&source), index)))
        });
        let items: Vec<_> = items.collect();
        Ok((items.len() == count).then_some(items))
    }
}

fn is_sequence(object: &Bound<'_, PyAny>) -> bool {
    object.is_exact_instance_of::<PyTuple>() || object.is_exact_instance_of::<PyList>()
}
