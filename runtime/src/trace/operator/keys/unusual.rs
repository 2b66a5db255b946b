//! Sets and dicts from outside whose keys are no plain values, or differ from call to call: the trace goes through them, key by key, each reached over its own path.
//!
//! Nothing is looked up in what C gets for that, so that neither hashes nor addresses matter. All else that C would do with such a
//! container is a graph break.
use crate::ffi::containers::{self, Container, Kind};
use crate::ffi::set_table::SetLayout;
use crate::ffi::{callee, ordered_dict, types};
use crate::guard::Check;
use crate::guard::source::Source;
use crate::names::{interned, name};
use crate::trace::state::guard_requests::GuardRequest;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal, unsupported};
use crate::trace::state::value::{New, Value, ValueId};
use crate::trace::value::gone_through::goes_through;
use crate::trace::value::kinds::is_key;
use generated::slots::Slot;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction, PyList, PyTuple, PyType};
use std::sync::Arc;

/// Views of dicts and `OrderedDict`s, as C names their classes.
const VIEWS: [(&str, [&str; 2]); 3] = [
    ("keys", ["dict_keys", "odict_keys"]),
    ("values", ["dict_values", "odict_values"]),
    ("items", ["dict_items", "odict_items"]),
];

impl<'py> Tracer<'py> {
    /// Such a container; `None`: it is another object, or has plain keys that are always the same.
    fn unusual(&self, value: ValueId) -> Option<(Bound<'py, PyAny>, Container<'py>)> {
        if self.state.private_copies.of(value).is_some() || self.is_namespace(value) {
            return None;
        }
        let object = self.real(value)?;
        let class = object.get_type();
        let of = containers::of(&class)?;
        let hashed = matches!(of.kind, Kind::Dict | Kind::OrderedDict | Kind::Set | Kind::FrozenSet);
        let plainly = || {
            [Slot::tp_iter, Slot::tp_iternext]
                .into_iter()
                .all(|slot| types::slot(&class, slot) == types::slot(&of.base, slot))
        };
        if !hashed || !plainly() {
            return None;
        }
        let keys = containers::keys(&object).ok()?;
        (!keys.iter().all(|key| is_key(&key)) || self.has_changing_keys(value)).then_some((object, of))
    }

    /// An iterator over such a container, or over a view of one; `None`: it is neither.
    pub(crate) fn iterate_unusual(&mut self, value: ValueId) -> Traced<Option<ValueId>> {
        self.refuse_whole(value, "iteration")?;
        let (container, view) = match self.state.views.get(&value) {
            Some((dict, view)) => (*dict, *view),
            None => (value, "keys"),
        };
        if self.has_entries_changed_by_hash(container) {
            self.copy_with_hashes(container)?;
            if let Some([value, _]) = self.views_for_c([value, value])? {
                return self.get_iter(value).map(Some);
            }
        }
        let Some((object, of)) = self.unusual(container) else { return Ok(None) };
        self.refuse_changed_entries(container)?;
        self.class_of(container)?;
        let Some(source) = self.source(container) else { return internal("a container from outside without a path") };
        let keys = self.keys_of(container, &object, &source)?;
        let gone_through = match object.cast::<PyDict>() {
            Ok(dict) => self.dict_gone_through(dict, &source, keys, view != "keys")?,
            Err(_) => self.set_gone_through(&object, keys)?,
        };
        // It lives as long as the trace, so that nothing else gets its address.
        self.push(Value::Real { object: gone_through.clone().unbind(), source: None });
        self.state.identity.insert(gone_through.as_ptr() as usize, container);
        let over = match matches!(of.kind, Kind::Set | Kind::FrozenSet) {
            true => Ok(gone_through),
            false => gone_through.call_method0(interned(self.py, view)),
        };
        let iterator = over.and_then(|over| over.call_method0(name!("__iter__")));
        iterator.map(|iterator| Some(self.own(iterator))).or_else(|error| internal(error.to_string()))
    }

    /// The keys, each over its own path; guarded is how many there are.
    pub(in crate::trace::operator) fn keys_of(
        &mut self,
        id: ValueId,
        object: &Bound<'py, PyAny>,
        source: &Source,
    ) -> Traced<Vec<ValueId>> {
        let keys = containers::keys(object).or_else(|error| internal(error.to_string()))?;
        let path = Arc::new(Source::Keys(Arc::new(source.clone())));
        const WHY: &str = "the trace went through the container";
        self.state.guard_requests.insert(id, GuardRequest::GONE_THROUGH);
        self.guard_once(id, GuardRequest::LENGTH, (*path).clone(), Check::Length(keys.len()), WHY);
        Ok(keys
            .iter()
            .enumerate()
            .map(|(index, key)| self.sourced(key, Source::Item(Arc::clone(&path), index)))
            .collect())
    }

    fn natives_of(&mut self, values: &[ValueId]) -> Traced<Vec<Bound<'py, PyAny>>> {
        let is_function = |object: Bound<'py, PyAny>| object.is_exact_instance_of::<PyFunction>();
        let native = |value: &ValueId| match self.real(*value).is_some_and(is_function) {
            // Whoever gets it tells how much of it matters.
            true => self.proxy(*value),
            false => self.stored(*value),
        };
        values.iter().map(native).collect()
    }

    fn dict_gone_through(
        &mut self,
        dict: &Bound<'py, PyDict>,
        source: &Source,
        keys: Vec<ValueId>,
        has_values: bool,
    ) -> Traced<Bound<'py, PyAny>> {
        let mut values = Vec::new();
        if has_values {
            let path = Arc::new(Source::Values(Arc::new(source.clone())));
            let held = containers::values(dict).or_else(|error| internal(error.to_string()))?;
            let held = held.into_iter().enumerate();
            values = held.map(|(index, value)| self.sourced(value, Source::Item(Arc::clone(&path), index))).collect();
        }
        let natives = self.natives_of(&keys)?;
        let values = match has_values {
            true => self.natives_of(&values)?,
            false => natives.clone(),
        };
        let made = PyTuple::new(self.py, natives).and_then(|keys| containers::dict_in_order(&keys, &values));
        made.map(Bound::into_any).or_else(|error| internal(error.to_string()))
    }

    fn set_gone_through(&mut self, set: &Bound<'py, PyAny>, keys: Vec<ValueId>) -> Traced<Bound<'py, PyAny>> {
        let natives = self.natives_of(&keys)?;
        let made = PyTuple::new(self.py, natives).and_then(|keys| {
            let layout = SetLayout::of(set)?;
            layout.map(|layout| layout.filled(&keys)).transpose()
        });
        match made {
            Ok(Some(made)) => Ok(made.into_any()),
            Ok(None) => unsupported("set from outside", "this interpreter lays sets out in another way"),
            Err(error) => internal(error.to_string()),
        }
    }

    /// A view of such a dict, which its own method gives; `None`: it is another call.
    pub(crate) fn view_of_unusual(
        &mut self,
        method: &Bound<'py, PyAny>,
        name: &str,
        args: &[ValueId],
    ) -> Traced<Option<ValueId>> {
        let ([dict], Some((view, classes))) = (args, VIEWS.iter().find(|(view, _)| *view == name)) else {
            return Ok(None);
        };
        let Some((_, of)) = self.unusual(*dict) else { return Ok(None) };
        let class = match of.kind {
            Kind::Dict => classes[0],
            Kind::OrderedDict if self.has_changing_keys(*dict) => classes[1],
            _ => return Ok(None),
        };
        if !callee::owner_of(method).is_some_and(|owner| types::is_subtype(&of.base, &owner)) {
            return Ok(None);
        }
        let made = self.push(Value::New(New::Opaque(class)));
        self.state.views.insert(made, (*dict, view));
        Ok(Some(made))
    }

    /// The class of such a view.
    pub(crate) fn class_of_view(&self, name: &str) -> Option<Bound<'py, PyType>> {
        let (view, _) = VIEWS.iter().find(|(_, classes)| classes.contains(&name))?;
        let dict = match name.starts_with('o') {
            true => ordered_dict::class(self.py)?.call0().ok()?,
            false => PyDict::new(self.py).into_any(),
        };
        dict.call_method0(interned(self.py, view)).ok().map(|view| view.get_type())
    }

    /// How many entries such a view has; `None`: it is another object.
    pub(crate) fn length_of_view(&mut self, view: ValueId) -> Traced<Option<usize>> {
        match self.state.views.get(&view).copied() {
            Some((dict, _)) => self.unread_length(dict),
            None => Ok(None),
        }
    }

    /// Whether C may have a proxy of an argument, for it is such a container, and C goes through it.
    pub(crate) fn is_only_gone_through(&self, callable: &Bound<'py, PyAny>, args: &[ValueId], index: usize) -> bool {
        goes_through(callable, index, args.len()) && self.is_unusual(args[index])
    }

    /// Whether C may have a proxy of an argument, for it is of a class derived from `tuple` or `list`, and C goes through it. What C extends by
    /// itself it must know for the same object.
    pub(crate) fn is_sequence_gone_through(
        &self,
        callable: &Bound<'py, PyAny>,
        args: &[ValueId],
        index: usize,
    ) -> bool {
        let is_sequence =
            |object: &Bound<'py, PyAny>| object.is_instance_of::<PyTuple>() || object.is_instance_of::<PyList>();
        let Some(object) = self.real(args[index]).filter(is_sequence) else { return false };
        let is_other = |other: &ValueId| !self.real(*other).is_some_and(|other| other.is(&object));
        goes_through(callable, index, args.len()) && (index == 0 || args.first().is_none_or(is_other))
    }

    /// Whether it is such a container.
    pub(crate) fn is_unusual(&self, value: ValueId) -> bool {
        self.unusual(value).is_some()
    }
}
