//! Makes private copies of containers from outside: C works on the copy, and guards say that the copy was right.
use crate::ffi::containers::{self, Kind};
use crate::ffi::set_table::SetLayout;
use crate::ffi::{ordered_dict, types};
use crate::guard::Check;
use crate::guard::source::Source;
use crate::names::name;
use crate::trace::proxy::convert::{MAX_DEPTH, object_kind};
use crate::trace::state::guard_requests::GuardRequest;
use crate::trace::state::private_copies::PrivateCopy;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, changed_meanwhile, internal, unsupported};
use crate::trace::state::value::ValueId;
use crate::trace::value::kinds::{is_key, is_scalar};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyList, PyMemoryView, PySet, PyTuple};
use std::sync::Arc;

impl<'py> Tracer<'py> {
    /// The object to use as the receiver of a C method: also an instance of a Python class that derives from the C class.
    pub(crate) fn receiver(&mut self, id: ValueId) -> Traced<Bound<'py, PyAny>> {
        if let Some(context) = self.context_for_c(id)? {
            return Ok(context);
        }
        if let Some(object) = self.owned(id) {
            return Ok(object);
        }
        match self.container_copy(id)? {
            Some(copy) => Ok(copy),
            None => self.native(id),
        }
    }

    /// The private copy of a `list`, `tuple`, `dict` or `set` from outside; made when first needed, with guards on what it holds.
    pub(crate) fn private_copy(&mut self, id: ValueId) -> Traced<Option<Bound<'py, PyAny>>> {
        let Some(object) = self.real(id).filter(containers::is_plain) else { return Ok(None) };
        if let Some(private_copy) = self.state.private_copies.of(id) {
            return Ok(Some(private_copy.object.bind(self.py).clone()));
        }
        if !self.is_namespace(id) {
            self.make_private_copy(id, &object)?;
            self.repeat_appends(id)?;
            return Ok(self.state.private_copies.of(id).map(|copy| copy.object.bind(self.py).clone()));
        }
        let changes = self.whole_namespace(id)?;
        let copy = self.make_private_copy(id, &object)?;
        self.repeat_changes(id, &changes)?;
        Ok(copy)
    }

    /// What the trace has set and deleted of an instance's attributes, done to the copy of its `__dict__`.
    fn repeat_changes(&mut self, id: ValueId, changes: &[(String, Option<ValueId>)]) -> Traced<()> {
        let copies = self
            .state
            .private_copies
            .of(id)
            .map(|copy| [copy.object.clone_ref(self.py), copy.original.clone_ref(self.py)]);
        for (name, value) in changes {
            let native = value.map(|value| self.stored(value)).transpose()?;
            for copy in copies.iter().flatten() {
                let Ok(copy) = copy.bind(self.py).cast::<PyDict>() else { return internal("no __dict__") };
                let done = match &native {
                    Some(native) => copy.set_item(name, native),
                    None => copy.del_item(name),
                };
                done.or_else(|error| internal(error.to_string()))?;
            }
        }
        Ok(())
    }

    /// Makes the copy, with guards on what it holds.
    pub(crate) fn make_private_copy(
        &mut self,
        id: ValueId,
        object: &Bound<'py, PyAny>,
    ) -> Traced<Option<Bound<'py, PyAny>>> {
        let Some(source) = self.source(id) else { return Ok(None) };
        let changes = self.take_hashed_changes(id);
        self.refuse_changed_entries(id)?;
        if self.state.copying.contains(&id) || self.state.copying.len() > MAX_DEPTH {
            return unsupported("container that holds itself, or too deep a container", object_kind(object));
        }
        self.state.copying.push(id);
        let copy = self.copy(id, object, source);
        self.state.copying.pop();
        let Some(copy) = copy? else {
            self.state.effects.extend(changes);
            return Ok(None);
        };
        self.copy_kept_hash(id, object, &copy)?;
        let original = self.original_of(object, &copy)?;
        self.keep_private_copy(id, &copy, original);
        self.repeat_hashed_changes(id, changes)?;
        Ok(Some(copy))
    }

    /// From now on the copy stands for the object.
    pub(crate) fn keep_private_copy(&mut self, id: ValueId, copy: &Bound<'py, PyAny>, original: Bound<'py, PyAny>) {
        self.state.identity.insert(copy.as_ptr() as usize, id);
        if copy.is_exact_instance_of::<PyTuple>() {
            // What holds it is no constant, whatever it consists of.
            self.state.passed_to_c.insert(copy.as_ptr() as usize, id);
        }
        self.state.private_copies.add(PrivateCopy {
            value: id,
            created_at: self.state.outer_step,
            is_given: false,
            has_attributes: false,
            object: copy.clone().unbind(),
            original: original.unbind(),
        });
    }

    /// A copy of a container, with what C may see of its items.
    pub(crate) fn copy(
        &mut self,
        id: ValueId,
        object: &Bound<'py, PyAny>,
        source: Source,
    ) -> Traced<Option<Bound<'py, PyAny>>> {
        let copy = if let Ok(list) = object.cast_exact::<PyList>() {
            let items = self.fixed_items(id, list.iter().collect(), &source)?;
            PyList::new(self.py, items).map(Bound::into_any)
        } else if let Ok(tuple) = object.cast_exact::<PyTuple>() {
            let items = self.fixed_items(id, tuple.iter().collect(), &source)?;
            PyTuple::new(self.py, items).map(Bound::into_any)
        } else if let Some(dict) = ordered_dict::exact(object) {
            self.class_of(id)?;
            self.copy_dict(id, dict, &source).map(Ok)?
        } else if let Ok(set) = object.cast_exact::<PySet>() {
            self.copy_set(id, set, source).map(|set| Ok(set.into_any()))?
        } else if let Ok(bytes) = object.cast_exact::<PyByteArray>() {
            self.copy_byte_array(id, bytes, source).map(Ok)?
        } else if object.is_exact_instance_of::<PyMemoryView>() {
            return self.copy_view(id, object, source);
        } else {
            return self.copy_container(id, object, &source);
        };
        copy.or_else(|error| self.raise_error(error)).map(Some)
    }

    /// What C gets for the items of a list or tuple; how many there are is guarded. They were read at once, before anything else could change them.
    fn fixed_items(
        &mut self,
        id: ValueId,
        items: Vec<Bound<'py, PyAny>>,
        source: &Source,
    ) -> Traced<Vec<Bound<'py, PyAny>>> {
        self.class_of(id)?;
        let check = Check::Length(items.len());
        self.guard_once(id, GuardRequest::LENGTH, source.clone(), check, "the trace read the container");
        self.items(items, source)
    }

    pub(crate) fn items(
        &mut self,
        items: impl IntoIterator<Item = Bound<'py, PyAny>>,
        source: &Source,
    ) -> Traced<Vec<Bound<'py, PyAny>>> {
        let mut natives = Vec::new();
        for (index, item) in items.into_iter().enumerate() {
            let item = self.sourced(item, Source::Item(Arc::new(source.clone()), index));
            natives.push(self.stored(item)?);
        }
        Ok(natives)
    }

    pub(crate) fn copy_dict(
        &mut self,
        id: ValueId,
        dict: &Bound<'py, PyDict>,
        source: &Source,
    ) -> Traced<Bound<'py, PyAny>> {
        // Read at once: what runs below may let another thread change the dict.
        let items = entries(dict);
        let class = dict.get_type();
        if !items.iter().all(|(key, _)| is_key(key)) {
            return self.copy_dict_with_hashes(id, dict, source);
        }
        let Some(container) = containers::of(&class) else { return internal("no dict") };
        let empty = match class.is(&container.base) {
            true => class.call0(),
            false => container.make(&class, None),
        };
        let guard_requests =
            PyTuple::new(self.py, items.iter().map(|(key, _)| key)).or_else(|error| self.raise_error(error))?;
        self.guard_once(
            id,
            GuardRequest::KEYS,
            source.clone(),
            Check::Keys(guard_requests.into_any().unbind()),
            "the trace read the dict",
        );
        let copy = empty.map_or_else(|error| self.raise_error(error), Ok)?;
        let own = (!dict.is_exact_instance_of::<PyDict>()).then(|| container.method("__setitem__")).transpose();
        let store = own.or_else(|error| internal(error.to_string()))?;
        for (key, value) in items {
            let value = self.sourced(value, source.entry_of(dict, &key));
            let asks_nobody = is_scalar(&key);
            let (key, value) = (self.native_key(key)?, self.stored(value)?);
            let store = || match &store {
                Some(store) => store.call1((&copy, key, value)).map(drop),
                None => copy.set_item(key, value),
            };
            let stored = if asks_nobody { store() } else { self.with_callbacks(store) };
            stored.or_else(|error| self.raise_error(error))?;
        }
        if container.kind == Kind::OrderedDict {
            self.copy_order(id, dict, &copy, source)?;
        }
        Ok(copy)
    }

    /// The same of a dict whose keys hash themselves.
    fn copy_dict_with_hashes(
        &mut self,
        id: ValueId,
        dict: &Bound<'py, PyDict>,
        source: &Source,
    ) -> Traced<Bound<'py, PyAny>> {
        let keys = PyTuple::new(self.py, dict.keys()).or_else(|error| self.raise_error(error))?;
        if !dict.is_exact_instance_of::<PyDict>() || !self.are_hashed_by_value(&keys) {
            return unsupported("dict with unusual keys", "a dict from outside has keys that are no plain values");
        }
        let copy = PyDict::new(self.py).into_any();
        self.fill_with_hashes(id, dict, source, &copy)?;
        Ok(copy)
    }

    /// A private copy as it is now, of a builtin class, to be compared with it later. It is not asked for its methods.
    fn original_of(&mut self, object: &Bound<'py, PyAny>, copy: &Bound<'py, PyAny>) -> Traced<Bound<'py, PyAny>> {
        if copy.is_instance_of::<PySet>() {
            let layout = SetLayout::of(copy);
            let again = layout.and_then(|layout| layout.map(|layout| layout.filled(&layout.keys(self.py))).transpose());
            return match again {
                Ok(Some(again)) => Ok(again.into_any()),
                _ => internal("layout of a set"),
            };
        }
        if let Ok(bytes) = copy.cast_exact::<PyByteArray>() {
            return Ok(PyBytes::new(self.py, &bytes.to_vec()).into_any());
        }
        if let Some(again) = self.reordered(object, copy)? {
            return Ok(again);
        }
        let class = copy.get_type();
        if copy.is_exact_instance_of::<PyList>() || copy.cast::<PyDict>().is_ok() && types::is_c_type(&class) {
            // An `OrderedDict` asks its keys for their hashes.
            let again = self.with_callbacks_on_scalars(|| copy.call_method0(name!("copy")));
            return again.or_else(|error| internal(error.to_string()));
        }
        let again = match (copy.cast::<PyDict>(), containers::of(&class)) {
            (Ok(stored), _) => self.with_callbacks(|| {
                let again = PyDict::new(stored.py());
                stored.iter().try_for_each(|(key, value)| again.set_item(key, value)).map(|()| again.into_any())
            }),
            (_, Some(container)) if matches!(container.kind, Kind::List | Kind::Deque) => {
                container.items(copy).and_then(|items| PyList::new(self.py, items)).map(Bound::into_any)
            }
            _ => Ok(copy.clone()),
        };
        again.or_else(|error| internal(error.to_string()))
    }

    /// Another copy of an `OrderedDict` whose table has another order than it, or which is of a derived class: its own `copy` would have one order
    /// for both, or run code of that class.
    pub(crate) fn reordered(
        &mut self,
        object: &Bound<'py, PyAny>,
        copy: &Bound<'py, PyAny>,
    ) -> Traced<Option<Bound<'py, PyAny>>> {
        let (Ok(dict), Ok(stored)) = (object.cast::<PyDict>(), copy.cast::<PyDict>()) else { return Ok(None) };
        let Some(class) = ordered_dict::class(self.py).filter(|_| ordered_dict::is_derived(object)) else {
            return Ok(None);
        };
        let places = match self.undisturbed(dict, ordered_dict::places(dict))? {
            Some(places) => places,
            None if ordered_dict::is_ordered_dict(copy) => return Ok(None),
            None => Vec::new(),
        };
        let keys: Vec<_> = stored.keys().iter().collect();
        let made = self.with_callbacks(|| {
            let again = class.call0()?;
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
        let order = self.undisturbed(dict, order)?;
        if copy.cast::<PyDict>().is_ok_and(|copy| copy.len() != order.len()) {
            return changed_meanwhile(dict);
        }
        let Some(class) = ordered_dict::class(self.py) else { return internal("no OrderedDict") };
        let last = class.getattr(name!("move_to_end")).or_else(|error| internal(error.to_string()))?;
        for key in &order {
            let key = self.native_key(key)?;
            let moved = self.with_callbacks(|| last.call1((copy, key)));
            match moved {
                Err(error) if error.is_instance_of::<PyKeyError>(self.py) => return changed_meanwhile(dict),
                moved => moved.or_else(|error| self.raise_error(error))?,
            };
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
        let (layout, keys) = self.set_table(id, set, source)?;
        let copy = layout.filled(&keys);
        copy.or_else(|error| self.raise_error(error))
    }

    /// The table of a set, with what C gets for its keys; guarded.
    pub(crate) fn set_table(
        &mut self,
        id: ValueId,
        set: &Bound<'py, PyAny>,
        source: Source,
    ) -> Traced<(SetLayout, Bound<'py, PyTuple>)> {
        let layout = SetLayout::of(set).or_else(|error| internal(error.to_string()))?;
        let Some(layout) = layout else { return unsupported("set from outside", "its layout is not known") };
        self.class_of(id)?;
        if !layout.keys(self.py).iter().all(|item| is_key(&item)) {
            if !self.are_hashed_by_value(&layout.keys(self.py)) {
                return unsupported("set from outside", "its items are no plain values");
            }
            let keys = self.set_with_hashes(id, &layout, &source)?;
            return Ok((layout, keys));
        }
        let guarded = layout.clone_ref(self.py);
        let mut keys = Vec::new();
        for key in layout.keys(self.py).iter() {
            keys.push(self.native_key(key)?);
        }
        let keys = PyTuple::new(self.py, keys).or_else(|error| self.raise_error(error))?;
        let check = Bound::new(self.py, guarded).or_else(|error| internal(error.to_string()))?;
        self.guard_once(
            id,
            GuardRequest::ITEMS,
            source,
            Check::Call(check.into_any().unbind()),
            "the trace read the set",
        );
        Ok((layout, keys))
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

/// The entries of a dict as they are at one moment; methods of a derived class are not asked.
fn entries<'py>(dict: &Bound<'py, PyDict>) -> Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    dict.items().iter().filter_map(|item| item.extract().ok()).collect()
}
