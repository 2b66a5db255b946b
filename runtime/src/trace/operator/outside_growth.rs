//! Lists and deques from outside that grow: guards ask for their truth, for an item counted from the end, for a relation of their length, not for the
//! length itself.
use crate::ffi::containers::{Container, Kind};
use crate::guard::Check;
use crate::guard::source::Source;
use crate::trace::operator::outside_appends::of_sequence;
use crate::trace::state::guard_requests::GuardRequest;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::Traced;
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::sync::Arc;

const WHY: &str = "the trace asked for the length";

/// A list or deque from outside of which the trace has no copy.
struct Growing<'py> {
    value: ValueId,
    list: Bound<'py, PyAny>,
    of: Container<'py>,
    length: usize,
    source: Arc<Source>,
    /// What the trace has appended to it.
    appended: Vec<ValueId>,
}

impl<'py> Tracer<'py> {
    fn growing(&mut self, value: ValueId) -> Option<Growing<'py>> {
        if !self.is_uncopied_sequence(value) {
            return None;
        }
        let list = self.real(value)?;
        let of = of_sequence(&list)?;
        let (length, source) = (of.length(&list).ok()?, Arc::new(self.source(value)?));
        Some(Growing { value, list, of, length, source, appended: self.appended(value) })
    }

    /// The length of such a list, if it may be another one at another call, or if the trace has appended to it.
    pub(crate) fn length_of_growing(&mut self, value: ValueId) -> Traced<Option<ValueId>> {
        let Some(growing) = self.growing(value) else { return Ok(None) };
        let more = growing.appended.len();
        let length = match self.symbolic_length(&growing)? {
            Some(length) => length,
            None if more == 0 => return Ok(None),
            None => {
                let length = self.fixed_length(&growing)?;
                self.integer(length as isize)
            }
        };
        if more == 0 {
            return Ok(Some(length));
        }
        let more = self.integer(more as isize);
        let sum = self.operator("add", &[length, more])?;
        let Growing { list, of, source, .. } = &growing;
        match of.kind == Kind::Deque {
            true => match self.guard_limit(value, list, of, (**source).clone())? {
                Some(limit) => self.least(sum, limit),
                None => Ok(Some(sum)),
            },
            false => Ok(Some(sum)),
        }
    }

    /// Whether compiled code may append one more item to a list or deque: a full deque lets go of one, which came from outside, and at whose end no
    /// code runs.
    pub(super) fn takes_one_more(&mut self, value: ValueId) -> Traced<bool> {
        if self.real(value).is_some_and(|object| object.is_exact_instance_of::<PyList>()) {
            return Ok(true);
        }
        let Some(growing) = self.growing(value) else { return Ok(false) };
        let Growing { list, of, source, appended, .. } = &growing;
        let Some(limit) = self.guard_limit(value, list, of, (**source).clone())? else { return Ok(true) };
        let length = match self.length_of_growing(value)? {
            Some(length) => length,
            None => {
                let length = (self.fixed_length(&growing)? + appended.len()).min(limit);
                self.integer(length as isize)
            }
        };
        let most = self.integer(limit as isize);
        let has_room = self.operator("lt", &[length, most])?;
        if self.is_true(has_room)? {
            return Ok(true);
        }
        let place = (growing.length + appended.len()).checked_sub(limit).filter(|place| *place < growing.length);
        let Some(place) = place else { return Ok(false) };
        let item = of.method("__getitem__").and_then(|method| method.call1((list, place)));
        let item = item.or_else(|error| self.raise_error(error))?;
        let path = self.item_path(list, source, place)?;
        let item = self.sourced(item, path);
        self.before_overwriting(Some(item))?;
        Ok(true)
    }

    /// The least of a number and a limit; `None`: it is not known how to compute it.
    fn least(&mut self, number: ValueId, limit: usize) -> Traced<Option<ValueId>> {
        let limit = self.integer(limit as isize);
        if self.is_symbolic(number) {
            return self.number_function("min", &[number, limit]);
        }
        let is_less = self.operator("lt", &[number, limit])?;
        Ok(Some(if self.is_true(is_less)? { number } else { limit }))
    }

    /// The truth of such a list.
    pub(crate) fn truth_of_growing(&mut self, value: ValueId) -> Traced<Option<bool>> {
        let Some(growing) = self.growing(value) else { return Ok(None) };
        self.class_of(value)?;
        if !growing.appended.is_empty() && growing.of.kind == Kind::List {
            return Ok(Some(true));
        }
        if !growing.appended.is_empty() {
            return Ok(None);
        }
        let truth = growing.length > 0;
        if !self.state.guard_requests.has_any(value, GuardRequest::LENGTH) {
            let source = (*growing.source).clone();
            self.guard_once(value, GuardRequest::TRUTH, source, Check::Truth(truth), "the trace branched on the truth");
        }
        Ok(Some(truth))
    }

    /// An item of such a list, if its length may be another one at another call, or if the trace has appended to it; `None` also where there is
    /// no such item.
    pub(crate) fn item_of_growing(&mut self, value: ValueId, index: ValueId) -> Traced<Option<ValueId>> {
        let Some(growing) = self.growing(value).filter(|growing| growing.of.kind == Kind::List) else {
            return Ok(None);
        };
        let known = growing.appended.len();
        if known == 0 && !self.is_growing(&growing) {
            return Ok(None);
        }
        let Some(Ok(index)) = self.known(index).map(|index| index.extract::<isize>()) else { return Ok(None) };
        let (now, from_end) = (growing.length, index.unsigned_abs());
        if index < 0 && from_end <= known {
            self.class_of(value)?;
            return Ok(growing.appended.get(known - from_end).copied());
        }
        if !self.is_growing(&growing) {
            let length = self.fixed_length(&growing)?;
            let place = if index < 0 { (length + known).checked_sub(from_end) } else { Some(from_end) };
            return Ok(match place {
                Some(place) if place < length => Some(self.item_at(&growing, place, |base| Source::Item(base, place))?),
                Some(place) => growing.appended.get(place - length).copied(),
                None => None,
            });
        }
        let (place, from_end) = match index < 0 {
            true => (now.checked_sub(from_end - known), Some(from_end - known)),
            false => (Some(from_end), None),
        };
        let Some(place) = place.filter(|place| *place < now) else { return Ok(None) };
        self.class_of(value)?;
        self.item_at(&growing, place, |base| match from_end {
            Some(from_end) => Source::ItemFromEnd(base, from_end),
            None => Source::Item(base, place),
        })
        .map(Some)
    }

    /// An item at a place where there is one; a guard says so.
    fn item_at(
        &mut self,
        growing: &Growing<'py>,
        place: usize,
        path: impl Fn(Arc<Source>) -> Source,
    ) -> Traced<ValueId> {
        let path = path(Arc::clone(&growing.source));
        let item = growing.list.get_item(place).or_else(|error| self.raise_error(error))?;
        self.guard(path.clone(), Check::Exists, "the trace read it");
        Ok(self.sourced(item, path))
    }

    /// Whether it is a list from outside of which the trace has no copy.
    pub(crate) fn is_list_from_outside(&mut self, value: ValueId) -> bool {
        self.growing(value).is_some_and(|growing| growing.of.kind == Kind::List)
    }

    /// Whether it is a list from outside of which the trace has no copy, and whose length may be another one at another call.
    pub(crate) fn is_list_of_open_length(&mut self, value: ValueId) -> bool {
        self.growing(value).is_some_and(|growing| growing.of.kind == Kind::List && self.is_growing(&growing))
    }

    fn is_growing(&self, growing: &Growing<'py>) -> bool {
        self.state.numbers.is_changing(&Source::Length(Arc::clone(&growing.source)))
            && !self.state.guard_requests.has_any(growing.value, GuardRequest::LENGTH)
    }

    /// The length without what was appended, as a symbolic number; `None`: it must be known, or is.
    fn symbolic_length(&mut self, growing: &Growing<'py>) -> Traced<Option<ValueId>> {
        if !self.is_growing(growing) {
            return Ok(None);
        }
        self.class_of(growing.value)?;
        self.length_input(Source::Length(Arc::clone(&growing.source)), growing.length).map(Some)
    }

    fn fixed_length(&mut self, growing: &Growing<'py>) -> Traced<usize> {
        self.class_of(growing.value)?;
        let (length, source) = (growing.length, (*growing.source).clone());
        self.guard_once(growing.value, GuardRequest::LENGTH, source, Check::Length(length), WHY);
        Ok(length)
    }
}
