//! Makes private copies of containers from outside: C works on the copy, and guards say that the copy was right.
use crate::ffi::ordered_dict;
use crate::ffi::set_table::SetLayout;
use crate::guard::Check;
use crate::guard::source::{Fixed, Source};
use crate::names::name;
use crate::trace::proxy::convert::{MAX_DEPTH, object_kind};
use crate::trace::state::guard_requests::GuardRequest;
use crate::trace::state::private_copies::PrivateCopy;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal, unsupported};
use crate::trace::state::value::ValueId;
use crate::trace::value::kinds::{is_key, is_scalar};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySet, PyTuple};
use std::sync::Arc;

impl<'py> Tracer<'py> {
    /// The object to use as the receiver of a C method: also an instance of a Python class that derives from the C class.
    pub(crate) fn receiver(&mut self, id: ValueId) -> Traced<Bound<'py, PyAny>> {
        if let Some(context) = self.context_for_c(id)? {
            return Ok(context);
        }
        match self.owned(id) {
            Some(object) => Ok(object),
            None => self.native(id),
        }
    }

    /// The private copy of a container from outside; made when first needed, with guards on what it holds.
    pub(crate) fn private_copy(&mut self, id: ValueId) -> Traced<Option<Bound<'py, PyAny>>> {
        if let Some(private_copy) = self.state.private_copies.of(id) {
            return Ok(Some(private_copy.object.bind(self.py).clone()));
        }
        let Some(object) = self.real(id) else { return Ok(None) };
        let Some(source) = self.source(id) else { return Ok(None) };
        if self.is_namespace(id) {
            self.whole_namespace(id)?;
        }
        if self.state.copying.contains(&id) || self.state.copying.len() > MAX_DEPTH {
            return unsupported("container that holds itself, or too deep a container", object_kind(&object));
        }
        self.state.copying.push(id);
        let copy = self.copy(id, &object, source);
        self.state.copying.pop();
        let Some(copy) = copy? else { return Ok(None) };
        let original = match copy.cast::<PySet>() {
            Ok(set) => {
                let again = SetLayout::of(set)
                    .and_then(|layout| layout.map(|layout| layout.filled(&layout.keys(self.py))).transpose());
                let Ok(Some(again)) = again else { return internal("layout of a set") };
                again.into_any()
            }
            Err(_) => match self.reordered(&object, &copy)? {
                Some(again) => again,
                None => copy.call_method0(name!("copy")).unwrap_or_else(|_| copy.clone()),
            },
        };
        self.state.identity.insert(copy.as_ptr() as usize, id);
        self.state.private_copies.add(PrivateCopy {
            value: id,
            created_at: self.state.outer_step,
            object: copy.clone().unbind(),
            original: original.unbind(),
        });
        Ok(Some(copy))
    }

    /// A copy of a container of an exact builtin type, with what C may see of its items.
    pub(crate) fn copy(
        &mut self,
        id: ValueId,
        object: &Bound<'py, PyAny>,
        source: Source,
    ) -> Traced<Option<Bound<'py, PyAny>>> {
        let copy = if let Ok(list) = object.cast_exact::<PyList>() {
            self.class_of(id)?;
            self.guard_once(
                id,
                GuardRequest::LENGTH,
                source.clone(),
                Check::Length(list.len()),
                "the trace read the container",
            );
            let items = self.items(list.iter(), &source)?;
            PyList::new(self.py, items).map(Bound::into_any)
        } else if let Ok(tuple) = object.cast_exact::<PyTuple>() {
            self.class_of(id)?;
            self.guard_once(
                id,
                GuardRequest::LENGTH,
                source.clone(),
                Check::Length(tuple.len()),
                "the trace read the container",
            );
            let items = self.items(tuple.iter(), &source)?;
            PyTuple::new(self.py, items).map(Bound::into_any)
        } else if let Some(dict) = ordered_dict::exact(object) {
            self.class_of(id)?;
            self.copy_dict(id, dict, &source).map(Ok)?
        } else if let Ok(set) = object.cast_exact::<PySet>() {
            self.copy_set(id, set, source).map(|set| Ok(set.into_any()))?
        } else {
            return Ok(None);
        };
        copy.or_else(|error| self.raise_error(error)).map(Some)
    }

    pub(crate) fn items(
        &mut self,
        items: impl Iterator<Item = Bound<'py, PyAny>>,
        source: &Source,
    ) -> Traced<Vec<Bound<'py, PyAny>>> {
        let mut natives = Vec::new();
        for (index, item) in items.enumerate() {
            let item = self.sourced(item, Source::Item(Arc::new(source.clone()), index));
            natives.push(self.native(item)?);
        }
        Ok(natives)
    }

    pub(crate) fn copy_dict(
        &mut self,
        id: ValueId,
        dict: &Bound<'py, PyDict>,
        source: &Source,
    ) -> Traced<Bound<'py, PyAny>> {
        if !dict.keys().iter().all(|key| is_key(&key)) {
            return unsupported("dict with unusual keys", "a dict from outside has keys that are no plain values");
        }
        let keys: Vec<_> = dict.keys().iter().collect();
        let guard_requests = PyTuple::new(self.py, &keys).or_else(|error| self.raise_error(error))?;
        self.guard_once(
            id,
            GuardRequest::KEYS,
            source.clone(),
            Check::Keys(guard_requests.into_any().unbind()),
            "the trace read the dict",
        );
        let copy = dict.get_type().call0().or_else(|error| self.raise_error(error))?;
        let is_dict = dict.is_exact_instance_of::<PyDict>();
        for key in keys {
            let Ok(Some(value)) = dict.get_item(&key) else { return internal("a key of a dict") };
            let path = Source::DictItem(Arc::new(source.clone()), Fixed::new(&key));
            let value = self.sourced(value, path);
            let asks_nobody = is_dict && is_scalar(&key);
            let (key, value) = (self.native_key(key)?, self.native(value)?);
            let store = || copy.set_item(key, value);
            let stored = if asks_nobody { store() } else { self.with_callbacks(store) };
            stored.or_else(|error| self.raise_error(error))?;
        }
        if ordered_dict::is_ordered_dict(dict) {
            self.copy_order(id, dict, &copy, source)?;
        }
        Ok(copy)
    }

    /// Another copy of an `OrderedDict` whose table has another order than it: its own `copy` would have one order for both.
    pub(crate) fn reordered(
        &mut self,
        object: &Bound<'py, PyAny>,
        copy: &Bound<'py, PyAny>,
    ) -> Traced<Option<Bound<'py, PyAny>>> {
        let (Some(dict), Ok(stored)) = (ordered_dict::exact(object), copy.cast::<PyDict>()) else { return Ok(None) };
        let Some(places) = ordered_dict::places(dict).or_else(|error| self.raise_error(error))? else {
            return Ok(None);
        };
        let keys: Vec<_> = stored.keys().iter().collect();
        let made = self.with_callbacks(|| {
            let again = copy.get_type().call0()?;
            stored.iter().try_for_each(|(key, value)| again.set_item(key, value))?;
            let mut moved = places.iter().filter_map(|place| keys.get(*place));
            moved.try_for_each(|key| again.call_method1(name!("move_to_end"), (key,)).map(drop)).map(|()| again)
        });
        made.map(Some).or_else(|error: PyErr| self.raise_error(error))
    }

    /// Brings the keys of a copy of an `OrderedDict` into its order.
    pub(crate) fn copy_order(
        &mut self,
        id: ValueId,
        dict: &Bound<'py, PyDict>,
        copy: &Bound<'py, PyAny>,
        source: &Source,
    ) -> Traced<()> {
        let order = ordered_dict::order(dict).and_then(|order| PyTuple::new(self.py, order));
        let order = order.or_else(|error| self.raise_error(error))?;
        for key in &order {
            let key = self.native_key(key)?;
            let moved = self.with_callbacks(|| copy.call_method1(name!("move_to_end"), (key,)));
            moved.or_else(|error| self.raise_error(error))?;
        }
        let check = Check::Domain(Box::new(crate::guard::KeyOrder(order.unbind())));
        self.guard_once(id, GuardRequest::ORDER, source.clone(), check, "the trace read the dict");
        Ok(())
    }

    /// The set's items, their types and their places are guarded.
    pub(crate) fn copy_set(
        &mut self,
        id: ValueId,
        set: &Bound<'py, PySet>,
        source: Source,
    ) -> Traced<Bound<'py, PySet>> {
        let layout = SetLayout::of(set).or_else(|error| internal(error.to_string()))?;
        let Some(layout) = layout.filter(|_| set.iter().all(|item| is_key(&item))) else {
            return unsupported("set from outside", "its items are no plain values");
        };
        self.class_of(id)?;
        let mut keys = Vec::new();
        for key in layout.keys(self.py).iter() {
            keys.push(self.native_key(key)?);
        }
        let copy = PyTuple::new(self.py, keys).and_then(|keys| layout.filled(&keys));
        let check = Bound::new(self.py, layout).or_else(|error| internal(error.to_string()))?;
        self.guard_once(
            id,
            GuardRequest::ITEMS,
            source,
            Check::Call(check.into_any().unbind()),
            "the trace read the set",
        );
        copy.or_else(|error| self.raise_error(error))
    }

    /// A key of a container from outside, which guards compare, as C gets it elsewhere.
    pub(crate) fn native_key(&mut self, key: Bound<'py, PyAny>) -> Traced<Bound<'py, PyAny>> {
        if is_scalar(&key) {
            return Ok(key);
        }
        let key = self.constant(key);
        self.native(key)
    }
}
