//! Private copies of instances of classes that derive from containers of C, and of containers that are neither list, tuple, dict nor set.
//!
//! C works on such a copy as the receiver of its own methods. As an argument it gets the copy where it tells the object by its layout; else a
//! proxy will do, which reads nothing yet. For one value it gets one of both as an argument, throughout the trace.
use crate::ffi::containers::{self, Container, Kind};
use crate::ffi::types;
use crate::guard::source::{Fixed, Source};
use crate::guard::{Check, DequeLimit, EmptySlot};
use crate::names::{interned, name};
use crate::trace::state::guard_requests::GuardRequest;
use crate::trace::state::proxy::Proxy;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, changed_meanwhile, internal, unsupported};
use crate::trace::state::value::ValueId;
use crate::trace::value::kinds::has_c_base;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFrozenSet, PyList, PyMemoryView, PyTuple, PyType};
use std::sync::Arc;

impl<'py> Tracer<'py> {
    /// The copy of such an object that is the receiver of a method of its C class; `None`: of another object.
    pub(crate) fn container_copy(&mut self, id: ValueId) -> Traced<Option<Bound<'py, PyAny>>> {
        let Some(object) = self.real(id).filter(|object| !containers::is_plain(object)) else { return Ok(None) };
        if object.is_exact_instance_of::<PyMemoryView>() {
            return match self.state.private_copies.of(id) {
                Some(known) => Ok(Some(known.object.bind(self.py).clone())),
                None => self.make_private_copy(id, &object),
            };
        }
        let class = object.get_type();
        let is_container = containers::of(&class).is_some();
        if !is_container && containers::viewed(&object).is_none() {
            return Ok(None);
        }
        if let Some(private_copy) = self.state.private_copies.of(id) {
            return Ok(Some(private_copy.object.bind(self.py).clone()));
        }
        if !is_container {
            return self.view_copy(id, &object);
        }
        if self.is_known_set(id, &object) || self.is_unusual(id) {
            return Ok(None);
        }
        if !types::is_c_type(&class) && crate::trace::value::finalisable::has_finaliser(&class) {
            return Ok(None);
        }
        self.class_of(id)?;
        self.rely_on_class(&class);
        let copy = self.make_private_copy(id, &object)?;
        self.repeat_appends(id)?;
        Ok(copy)
    }

    /// A copy of an instance of a Python class from outside, with its attributes, that is the receiver of a method of `object` which looks at
    /// them: `__reduce_ex__`. `None`: C lays out the instance, or code runs when one ends.
    pub(crate) fn instance_copy(&mut self, id: ValueId) -> Traced<Option<Bound<'py, PyAny>>> {
        if let Some(private_copy) = self.state.private_copies.of(id) {
            return Ok(Some(private_copy.object.bind(self.py).clone()));
        }
        let Some(object) = self.real(id) else { return Ok(None) };
        let class = object.get_type();
        let made_by_object = !types::is_c_type(&class) && !has_c_base(&class);
        if !made_by_object
            || object.is_instance_of::<PyType>()
            || crate::trace::value::finalisable::has_finaliser(&class)
        {
            return Ok(None);
        }
        self.class_of(id)?;
        self.rely_on_class(&class);
        let plain = self.import("builtins", "object")?;
        let new = plain.getattr(name!("__new__")).or_else(|error| internal(error.to_string()))?;
        let Ok(copy) = new.call1((&class,)) else { return Ok(None) };
        self.share_attributes(id, &object, &copy)?;
        self.keep_private_copy(id, &copy, copy.clone());
        self.state.private_copies.give_attributes(id);
        Ok(Some(copy))
    }

    /// A view like this one, of the copy of what it is a view of.
    fn view_copy(&mut self, id: ValueId, view: &Bound<'py, PyAny>) -> Traced<Option<Bound<'py, PyAny>>> {
        let (Some((inner, make)), Some(source)) = (containers::viewed(view), self.source(id)) else { return Ok(None) };
        if inner.cast::<PyDict>().is_ok_and(|dict| dict.contains("__module__").unwrap_or(true)) {
            return unsupported("namespace of a class or module, seen as a whole", types::name(&view.get_type()));
        }
        self.class_of(id)?;
        let inner = self.sourced(inner, Source::Referent(Arc::new(source)));
        let held = match self.container_argument(inner)? {
            Some(copy) => copy,
            None => self.native(inner)?,
        };
        if held.is_instance_of::<Proxy>() {
            return Ok(None);
        }
        let copy = make.call1((held,)).or_else(|error| internal(error.to_string()))?;
        self.keep_private_copy(id, &copy, copy.clone());
        Ok(Some(copy))
    }

    /// Whether C gets the object as it is.
    fn is_known_set(&mut self, id: ValueId, object: &Bound<'py, PyAny>) -> bool {
        object.is_exact_instance_of::<PyFrozenSet>() && self.known(id).is_some()
    }

    /// The copy of such an object that C gets as an argument which it may look into, with the attributes; `None`: C gets something else.
    pub(crate) fn container_argument(&mut self, id: ValueId) -> Traced<Option<Bound<'py, PyAny>>> {
        if self.state.proxies.contains_key(&id) || self.is_outside_view(id) {
            return Ok(None);
        }
        let copy = self.only_container_argument(id)?;
        if copy.is_some() {
            self.state.private_copies.give(id);
        }
        Ok(copy)
    }

    /// The same where C has no other argument with which it could compare this one, so that a proxy elsewhere does not matter.
    pub(crate) fn only_container_argument(&mut self, id: ValueId) -> Traced<Option<Bound<'py, PyAny>>> {
        let Some(object) = self.real(id).filter(|object| !containers::is_plain(object)) else { return Ok(None) };
        if self.is_outside_view(id) {
            return Ok(None);
        }
        let Some(copy) = self.container_copy(id)? else { return Ok(None) };
        if self.state.private_copies.of(id).is_some_and(|private_copy| !private_copy.has_attributes) {
            self.share_attributes(id, &object, &copy)?;
            self.state.private_copies.give_attributes(id);
        }
        Ok(Some(copy))
    }

    /// Lets the copy have the attributes of the object: the copy of its `__dict__`.
    fn share_attributes(&mut self, id: ValueId, object: &Bound<'py, PyAny>, copy: &Bound<'py, PyAny>) -> Traced<()> {
        let class = object.get_type();
        for slot in slots(&class) {
            self.share_slot(id, object, copy, &slot)?;
        }
        let Some(dict) = self.attributes_as_dict(id, object)? else { return Ok(()) };
        let Some(held) = self.private_copy(dict)? else { return internal("__dict__ without a copy") };
        types::generic_set(copy, &interned(self.py, "__dict__"), Some(&held))
            .or_else(|error| internal(error.to_string()))
    }

    /// The same for a slot, as the trace knows it.
    fn share_slot(
        &mut self,
        id: ValueId,
        object: &Bound<'py, PyAny>,
        copy: &Bound<'py, PyAny>,
        name: &str,
    ) -> Traced<()> {
        let found = types::lookup(&copy.get_type(), &interned(self.py, name));
        let slot = found.filter(|found| types::is_c_class(&found.get_type(), "member_descriptor"));
        let (Some(slot), Some(source)) = (slot, self.source(id)) else {
            return unsupported("slot under a name that is another attribute's", name);
        };
        let value = match self.state.attributes.get(&(id, name.to_owned())).copied() {
            Some(Some(value)) => value,
            Some(None) => return Ok(()),
            None if types::read(&slot, object).is_ok() => self.generic_get_attr(id, name)?,
            None => {
                let check = Check::Domain(Box::new(EmptySlot(slot.unbind())));
                self.guard(source, check, "the trace read the slot");
                return Ok(());
            }
        };
        let native = self.stored(value)?;
        types::generic_set(copy, &interned(self.py, name), Some(&native)).or_else(|error| internal(error.to_string()))
    }

    /// A slot of an object from outside is set, or deleted: a copy that C gets has the same.
    pub(crate) fn set_slot_of_copy(&mut self, object: ValueId, name: &str, value: Option<ValueId>) -> Traced<()> {
        let copy = self.state.private_copies.of(object).filter(|private_copy| private_copy.has_attributes);
        let Some(copy) = copy.map(|copy| copy.object.bind(self.py).clone()) else { return Ok(()) };
        let native = value.map(|value| self.stored(value)).transpose()?;
        let set = types::generic_set(&copy, &interned(self.py, name), native.as_ref());
        set.or_else(|error| internal(error.to_string()))
    }

    /// The copy, with what C may see of the items.
    pub(crate) fn copy_container(
        &mut self,
        id: ValueId,
        object: &Bound<'py, PyAny>,
        source: &Source,
    ) -> Traced<Option<Bound<'py, PyAny>>> {
        let class = self.class_of(id)?;
        let Some(container) = containers::of(&class) else { return Ok(None) };
        let copy = match container.kind {
            Kind::List | Kind::Tuple | Kind::Deque => self.copy_items(id, object, &container, source)?,
            Kind::Dict | Kind::OrderedDict => {
                let Ok(dict) = object.cast::<PyDict>() else { return internal("no dict") };
                let copy = self.copy_dict(id, dict, source)?;
                self.copy_members(id, object, &copy, &container)?;
                copy
            }
            Kind::Set | Kind::FrozenSet => {
                let (layout, keys) = self.set_table(id, object, source.clone())?;
                let copy = empty_set(&container, &class);
                let filled = copy.and_then(|copy| layout.fill(&copy, &keys).map(|()| copy));
                filled.or_else(|error| internal(error.to_string()))?
            }
        };
        Ok(Some(copy))
    }

    fn copy_items(
        &mut self,
        id: ValueId,
        object: &Bound<'py, PyAny>,
        container: &Container<'py>,
        source: &Source,
    ) -> Traced<Bound<'py, PyAny>> {
        let class = object.get_type();
        let items = self.undisturbed(object, container.items(object))?;
        if self.guard_length(id, object, container, source.clone())? != items.len() {
            return changed_meanwhile(object);
        }
        let mut natives = Vec::new();
        for (index, item) in items.into_iter().enumerate() {
            let path = self.item_path(object, source, index)?;
            let item = self.sourced(item, path);
            natives.push(self.stored(item)?);
        }
        let made = match container.kind {
            Kind::Tuple => PyTuple::new(self.py, natives).and_then(|items| container.make(&class, Some(&items))),
            Kind::Deque => (|| {
                let made = container.make(&class, None)?;
                let items = PyList::new(self.py, natives)?;
                container.method("__init__")?.call1((&made, items, container.limit(object)?))?;
                Ok(made)
            })(),
            _ => container.make(&class, None).and_then(|made| {
                let list = made.cast::<PyList>()?.clone();
                natives.iter().try_for_each(|item| list.append(item)).map(|()| made)
            }),
        };
        made.or_else(|error: PyErr| internal(error.to_string()))
    }

    /// Guards how many items there are.
    pub(crate) fn guard_length(
        &mut self,
        id: ValueId,
        object: &Bound<'py, PyAny>,
        container: &Container<'py>,
        source: Source,
    ) -> Traced<usize> {
        const WHY: &str = "the trace read the container";
        let length = container.length(object).or_else(|error| internal(error.to_string()))?;
        if container.kind == Kind::Deque {
            self.guard_limit(id, object, container, source.clone())?;
        }
        self.guard_once(id, GuardRequest::LENGTH, source, Check::Length(length), WHY);
        Ok(length)
    }

    /// Guards how many items a deque may have.
    pub(crate) fn guard_limit(
        &mut self,
        id: ValueId,
        deque: &Bound<'py, PyAny>,
        container: &Container<'py>,
        source: Source,
    ) -> Traced<Option<usize>> {
        let limit = container.limit(deque).and_then(|limit| limit.extract());
        let limit = limit.or_else(|error: PyErr| internal(error.to_string()))?;
        let check = Check::Domain(Box::new(DequeLimit(limit)));
        self.guard_once(id, GuardRequest::ORDER, source, check, "the trace read the container");
        Ok(limit)
    }

    /// What an iteration over the container gave. It runs no code of the program: where it fails, another thread has changed the container.
    pub(crate) fn undisturbed<T>(&self, container: &Bound<'py, PyAny>, read: PyResult<T>) -> Traced<T> {
        match read {
            Err(error) if error.is_instance_of::<PyRuntimeError>(self.py) => changed_meanwhile(container),
            read => read.or_else(|error| internal(error.to_string())),
        }
    }

    /// The path to an item of a sequence.
    pub(crate) fn item_path(&self, object: &Bound<'py, PyAny>, source: &Source, index: usize) -> Traced<Source> {
        let base = Arc::new(source.clone());
        if object.is_exact_instance_of::<PyList>() || object.is_exact_instance_of::<PyTuple>() {
            return Ok(Source::Item(base, index));
        }
        let Some(container) = containers::of(&object.get_type()) else { return internal("item of no container") };
        let method = container.method("__getitem__").or_else(|error| internal(error.to_string()))?;
        Ok(Source::OwnItem(base, Fixed::new(&method), index))
    }

    /// Gives the copy what members of C hold beside the items: `default_factory` of a `defaultdict`.
    fn copy_members(
        &mut self,
        id: ValueId,
        object: &Bound<'py, PyAny>,
        copy: &Bound<'py, PyAny>,
        container: &Container<'py>,
    ) -> Traced<()> {
        if container.base.is(self.py.get_type::<PyDict>()) || container.kind == Kind::OrderedDict {
            return Ok(());
        }
        for (name, member) in containers::members(&container.base) {
            let found = types::lookup(&object.get_type(), &interned(self.py, &name));
            let (Some(source), true) = (self.source(id), found.is_some_and(|found| found.is(&member))) else {
                return unsupported("member of C under a name that is another attribute's", name);
            };
            let held = types::read(&member, object).or_else(|error| internal(error.to_string()))?;
            let held = self.sourced(held, Source::OwnAttr(Arc::new(source), name.as_str().into()));
            let native = self.called_back(held)?;
            let set = types::generic_set(copy, &interned(self.py, &name), Some(&native));
            set.or_else(|_| unsupported("member of C that C alone sets", name))?;
        }
        Ok(())
    }
}

/// A set that nobody else has. An empty `frozenset` of no derived class is one that all share.
fn empty_set<'py>(container: &Container<'py>, class: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyAny>> {
    let shared = container.kind == Kind::FrozenSet && class.is(&container.base);
    let filler = shared.then(|| class.py().None());
    container.make(class, Some(&PyTuple::new(class.py(), filler)?))
}

/// The slots that classes of Python code give instances, by their names.
fn slots(class: &Bound<'_, PyType>) -> Vec<String> {
    let bases = types::mro(class).into_iter().flatten().filter_map(|base| base.cast_into::<PyType>().ok());
    let python = bases.into_iter().filter(|base| !types::is_c_type(base));
    python.flat_map(|base| containers::members(&base)).map(|(name, _)| name).collect()
}
