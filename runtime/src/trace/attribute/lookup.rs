//! Attribute lookup, under the names of the C functions. CPython: `Objects/object.c`, `_PyObject_GenericGetAttrWithDict`.
use crate::ffi::types;
use crate::ffi::types::is_c_type;
use crate::guard::source::Source;
use crate::guard::{Check, EmptySlot};
use crate::names::{interned, name};
use crate::trace::attribute::descriptors::{
    has_generic_getattr, has_get, held_dict, is_data_descriptor, is_generic_wrapper, is_of_modules,
};
use crate::trace::state::arguments::Arguments;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, unsupported};
use crate::trace::state::value::{New, Value, ValueId};
use pyo3::exceptions::PyAttributeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyModule, PyType};
use std::sync::Arc;

impl<'py> Tracer<'py> {
    /// The `tp_getattro` of an object's class.
    pub(crate) fn getattro(&mut self, object: ValueId, name: &str) -> Traced<ValueId> {
        if let Value::New(New::Method { function, receiver }) = self.value(object) {
            let (function, receiver) = (*function, *receiver);
            return self.method_get_attr(object, function, receiver, name);
        }
        if let Some(method) = self.method_of_later(object, name) {
            return Ok(method);
        }
        if let Some(found) = self.super_attr(object, name)? {
            return Ok(found);
        }
        let class = self.class_of(object)?;
        if let Some(domain) = self.domain_of(&class) {
            return self.domain_attr(&domain, object, &class, name);
        }
        if self.is_number(object)
            && let Some(found) = self.number_attr(object, &class, name)?
        {
            return Ok(found);
        }
        let plain = self.real(object).is_some_and(|object| crate::trace::value::kinds::is_plain(&object.get_type()));
        if !plain
            && !self.is_symbolic(object)
            && let Some(known) = self.known(object)
        {
            if let Ok(class) = known.cast::<PyType>() {
                let class = class.clone();
                return self.type_get_attr(object, &class, name);
            }
            if known.is_exact_instance_of::<PyModule>() {
                return self.module_get_attr(object, &known, name);
            }
        }
        if let Some(referent) = self.behind_proxy(object)? {
            return self.get_attr(referent, name);
        }
        if is_c_type(&class) {
            return self.c_get_attr(object, &class, name);
        }
        self.user_get_attr(object, &class, name)
    }

    /// What an attribute of a number is whatever the number: the class, or the number itself.
    fn number_attr(&mut self, number: ValueId, class: &Bound<'py, PyType>, name: &str) -> Traced<Option<ValueId>> {
        match name {
            "__class__" => Ok(Some(self.constant(class.clone().into_any()))),
            // CPython: `long_long`, `float_float`.
            "real" | "numerator" if self.lookup(class, name).is_some() && !self.is_unread(number) => Ok(Some(number)),
            _ => Ok(None),
        }
    }

    /// CPython: `method_getattro`: the class is asked first, then the function.
    pub(crate) fn method_get_attr(
        &mut self,
        method: ValueId,
        function: ValueId,
        receiver: ValueId,
        name: &str,
    ) -> Traced<ValueId> {
        match name {
            "__func__" => return Ok(function),
            "__self__" => return Ok(receiver),
            "__class__" => {
                let class = self.class_of(method)?;
                return Ok(self.constant(class.into_any()));
            }
            "__doc__" | "__name__" | "__qualname__" | "__module__" => {}
            _ => {
                let class = self.class_of(method)?;
                if self.lookup(&class, name).is_some() {
                    return unsupported("attribute of a bound method", name);
                }
            }
        }
        self.get_attr(function, name)
    }

    /// CPython: `slot_tp_getattr_hook`.
    fn user_get_attr(&mut self, object: ValueId, class: &Bound<'py, PyType>, name: &str) -> Traced<ValueId> {
        let plain = self.of_object("__getattribute__")?;
        let hook = self.lookup(class, "__getattr__");
        let result = match self.lookup(class, "__getattribute__") {
            Some(found) if hook.is_some() && is_of_modules(&found) => self.hooked_module_get_attr(object, name),
            Some(found) if !found.is(&plain) && !is_generic_wrapper(&found) => {
                let found = self.absorb_static(found);
                let name = interned(self.py, name).into_any();
                let name = self.constant(name);
                let bound = self.bind(found, object, class)?;
                self.call(bound, Arguments::positional(vec![name]))
            }
            _ => self.generic_get_attr(object, name),
        };
        let Some(hook) = hook else { return result };
        match result {
            Err(signal) if self.raised_is(&signal, "AttributeError")? => {
                let hook = self.absorb_static(hook);
                let name = interned(self.py, name).into_any();
                let name = self.constant(name);
                let handled = self.bind(hook, object, class)?;
                self.call(handled, Arguments::positional(vec![name]))
            }
            other => other,
        }
    }

    /// `PyObject_GenericGetAttr`.
    pub(crate) fn generic_get_attr(&mut self, object: ValueId, name: &str) -> Traced<ValueId> {
        let class = self.class_of(object)?;
        let found = self.lookup(&class, name);
        if let Some(found) = &found
            && is_data_descriptor(found)
            && has_get(found)
        {
            return self.read_descriptor(found.clone(), object, &class, name);
        }
        if let Some(value) = self.instance_attr(object, name)? {
            return Ok(value);
        }
        match found {
            Some(found) => {
                let found = self.absorb_static(found);
                self.bind(found, object, &class)
            }
            None => self.raise_missing_attribute(object, &class, name),
        }
    }

    /// What the object's own `__dict__` holds under a name.
    pub(crate) fn instance_attr(&mut self, object: ValueId, name: &str) -> Traced<Option<ValueId>> {
        if let Some(owned) = self.owned(object) {
            let Some(dict) = held_dict(&owned) else { return Ok(None) };
            return Ok(self.held_in(&dict, name)?.map(|value| self.absorb(value)));
        }
        if let Some(dict) = self.dict_seen_whole(object) {
            return Ok(self.held_in(&dict, name)?.map(|value| self.absorb(value)));
        }
        let key = (object, name.to_owned());
        if let Some(overlay) = self.state.attributes.get(&key) {
            return Ok(*overlay);
        }
        let (Some(real), Some(source)) = (self.real(object), self.source(object)) else {
            return match self.is_method_of_handle(object, name)? {
                true => Ok(None),
                false => unsupported("attribute of a symbolic value", name),
            };
        };
        self.refuse_shared_dict(&real)?;
        let held = held_dict(&real).map_or(Ok(None), |dict| self.held_in(&dict, name))?;
        let value = match held {
            Some(value) => {
                let path = self.attribute_path(&real, source, name)?;
                Some(self.sourced(value, path))
            }
            None => {
                let absent = Check::Absent(interned(self.py, name).into_any().unbind());
                self.guard(Source::Dict(Arc::new(source)), absent, "the instance has no attribute of this name");
                None
            }
        };
        self.state.attributes.see(key, value);
        Ok(value)
    }

    /// A data descriptor's `__get__`.
    pub(crate) fn read_descriptor(
        &mut self,
        found: Bound<'py, PyAny>,
        object: ValueId,
        class: &Bound<'py, PyType>,
        name: &str,
    ) -> Traced<ValueId> {
        let of = found.get_type();
        let kind = if self.is_like_property(&found)? { "property".into() } else { types::c_name(&of) };
        match &*kind {
            "property" => {
                let getter = found.getattr(intern!(self.py, "fget")).or_else(|error| self.raise_error(error))?;
                if getter.is_none() {
                    return self.raise_property_error(&found, class, "getter");
                }
                let getter = self.absorb_static(getter);
                self.call(getter, Arguments::positional(vec![object]))
            }
            "member_descriptor" | "getset_descriptor" => self.read_c_member(&found, object, class, name),
            _ => {
                let found = self.absorb_static(found);
                self.bind(found, object, class)
            }
        }
    }

    /// Whether it is an instance of a class derived from `property` that reads as `property` does.
    fn is_like_property(&mut self, found: &Bound<'py, PyAny>) -> Traced<bool> {
        let class = found.get_type();
        if types::is_c_type(&class) {
            return Ok(false);
        }
        let property = self.import("builtins", "property")?;
        let Ok(property) = property.cast_into::<PyType>() else { return Ok(false) };
        if class.is(&property) || !types::is_subtype(&class, &property) {
            return Ok(false);
        }
        let is_inherited = |name| match (self.lookup(&class, name), self.lookup(&property, name)) {
            (Some(own), Some(known)) => own.is(&known),
            _ => false,
        };
        let is_like = ["__get__", "fget", "__getattribute__"].into_iter().all(is_inherited)
            && self.lookup(&class, "__getattr__").is_none();
        if is_like {
            self.rely_on_class(&class);
        }
        Ok(is_like)
    }

    fn read_c_member(
        &mut self,
        descriptor: &Bound<'py, PyAny>,
        object: ValueId,
        class: &Bound<'py, PyType>,
        name: &str,
    ) -> Traced<ValueId> {
        if name == "__class__" {
            return Ok(self.constant(class.clone().into_any()));
        }
        if name == "__traceback__" {
            return self.traceback_of(object);
        }
        if name == "__weakref__" {
            return unsupported("weak references of an object", "the trace has some of its own");
        }
        if name == "_co_code_adaptive" {
            return unsupported("code as the interpreter has adapted it", "it changes with each run");
        }
        if name == "__globals__"
            && let Some(function) = self.owned(object).or_else(|| self.known(object))
            && let Ok(globals) = function.getattr(name)
            && let Ok(globals) = globals.cast_into::<PyDict>()
        {
            if self.owned(object).is_none() {
                self.refuse_given_globals(Some(globals.as_any()))?;
            }
            return self.globals_value(&globals);
        }
        if let Some(owned) = self.owned(object) {
            if name == "__callback__" && self.referent(&owned).is_some_and(|(_, callback)| callback.is_some()) {
                return unsupported("callback of a weak reference", "the trace keeps it back");
            }
            let read = self.with_callbacks(|| descriptor.call_method1(name!("__get__"), (&owned,)));
            return self.after_native(read, &[]);
        }
        if self.lookup(class, name).is_none_or(|found| !found.is(descriptor)) {
            return unsupported("slot under a name that is another attribute's", name);
        }
        let key = (object, name.to_owned());
        match self.state.attributes.get(&key) {
            Some(Some(overlay)) => return Ok(*overlay),
            Some(None) => return unsupported("slot that the trace has emptied", name),
            None => {}
        }
        let (Some(real), Some(source)) = (self.real(object), self.source(object)) else {
            return unsupported("attribute of a symbolic value", name);
        };
        const LASTING: [&str; 3] = ["f_code", "f_globals", "f_builtins"];
        if types::is_c_class(class, "frame") && !LASTING.contains(&name) {
            return unsupported("frame from outside", name);
        }
        if name == "__dict__" {
            return self.dict_from_outside(&real, source, object, class);
        }
        if self.state.domains.iter().any(|domain| domain.hears(class)) {
            return unsupported("attribute that its class hears of", name);
        }
        let (read, warned) = self.with_warnings_as_errors(|| descriptor.call_method1(name!("__get__"), (&real,)));
        match read {
            _ if warned => unsupported("attribute that warns", name),
            Ok(value) => {
                let path = self.attribute_path(&real, source, name)?;
                Ok(self.sourced(value, path))
            }
            Err(error) => {
                let is_slot = types::is_c_class(&descriptor.get_type(), "member_descriptor") && !is_c_type(class);
                if !is_slot || !error.is_instance_of::<PyAttributeError>(self.py) {
                    return unsupported("slot without a value", name);
                }
                let check = Check::Domain(Box::new(EmptySlot(descriptor.clone().unbind())));
                self.guard(source, check, "the trace read the slot");
                let text = types::text(error.value(self.py).as_any());
                self.raise_empty_slot(object, name, text)
            }
        }
    }

    /// How an attribute is found again without running a `__getattribute__` of the user.
    fn attribute_path(&mut self, object: &Bound<'py, PyAny>, source: Source, name: &str) -> Traced<Source> {
        let class = object.get_type();
        let plain = self.of_object("__getattribute__")?;
        let own = !is_c_type(&class) && self.lookup(&class, "__getattribute__").is_some_and(|found| !found.is(&plain));
        let (base, name) = (Arc::new(source), name.into());
        Ok(if own { Source::OwnAttr(base, name) } else { Source::Attr(base, name) })
    }

    /// `_PyObject_GetMethod`: the unbound function and the receiver where that is possible.
    pub(crate) fn get_method(&mut self, object: ValueId, name: &str) -> Traced<(ValueId, Option<ValueId>)> {
        if name != "__class__"
            && let Some((class, receiver)) = self.super_of(object)
        {
            return self.super_lookup(&class, receiver, name);
        }
        let value = self.get_attr(object, name)?;
        if let Value::New(New::Method { function, receiver }) = self.value(value)
            && *receiver == object
        {
            let pair = (*function, Some(*receiver));
            if self.is_later_attribute(object) {
                return Ok(pair);
            }
            // CPython: `_PyObject_GetMethod`, which leaves methods unbound where nothing but the class decides what an attribute is.
            let class = self.class_of(object)?;
            return Ok(if has_generic_getattr(&class) { pair } else { (value, None) });
        }
        Ok((value, None))
    }
}
