//! Attributes of classes. CPython: `_Py_type_getattro`, `type_setattro`.
use crate::ffi::types;
use crate::ffi::types::is_c_type;
use crate::guard::Check;
use crate::guard::source::Source;
use crate::names::{interned, name};
use crate::trace::attribute::descriptors::{has_get, is_data_descriptor, short_name};
use crate::trace::state::arguments::Arguments;
use crate::trace::state::guard_requests::GuardRequest;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use std::sync::Arc;

impl<'py> Tracer<'py> {
    /// CPython: `_Py_type_getattro`.
    pub(crate) fn type_get_attr(&mut self, object: ValueId, class: &Bound<'py, PyType>, name: &str) -> Traced<ValueId> {
        let result = self.type_getattro(object, class, name);
        let meta = class.get_type();
        match (self.lookup(&meta, "__getattr__"), result) {
            // CPython: `slot_tp_getattr_hook`.
            (Some(hook), Err(signal)) if self.raised_is(&signal, "AttributeError")? => {
                let hook = self.absorb_static(hook);
                let hook = self.bind(hook, object, &meta)?;
                let name = self.string(name);
                self.call(hook, Arguments::positional(vec![name]))
            }
            (_, result) => result,
        }
    }

    fn type_getattro(&mut self, object: ValueId, class: &Bound<'py, PyType>, name: &str) -> Traced<ValueId> {
        let meta = class.get_type();
        let plain = self
            .import("builtins", "type")?
            .getattr(intern!(self.py, "__getattribute__"))
            .or_else(|error| self.raise_error(error))?;
        if let Some(own) = self.lookup(&meta, "__getattribute__").filter(|found| !found.is(&plain)) {
            if !is_of_pybind11(&meta, &own) {
                return unsupported("metaclass with __getattribute__", short_name(&meta));
            }
            // pybind11: `pybind11_meta_getattro`, which gives methods of C++ as they are and is `type_getattro` otherwise.
            if let Some(found) = self.lookup(class, name).filter(is_instance_method) {
                return Ok(self.absorb_static(found));
            }
        }
        let on_meta = self.lookup(&meta, name);
        if let Some(found) = &on_meta
            && is_data_descriptor(found)
            && has_get(found)
        {
            return self.read_type_member(class, found, object, &meta, name);
        }
        if let Some(found) = self.lookup(class, name) {
            return self.bind_to_class(found, object, class, name);
        }
        match on_meta {
            Some(found) => {
                let found = self.absorb_static(found);
                self.bind(found, object, &meta)
            }
            None => {
                let message = format!("type object '{}' has no attribute '{name}'", short_name(class));
                self.raise("AttributeError", message)
            }
        }
    }

    fn read_type_member(
        &mut self,
        class: &Bound<'py, PyType>,
        found: &Bound<'py, PyAny>,
        object: ValueId,
        meta: &Bound<'py, PyType>,
        name: &str,
    ) -> Traced<ValueId> {
        /// What a class says of itself, by members and getters of `type`, all of which its version covers.
        const CONSTANT: [&str; 13] = [
            "__module__",
            "__mro__",
            "__base__",
            "__bases__",
            "__doc__",
            "__flags__",
            "__abstractmethods__",
            "__basicsize__",
            "__itemsize__",
            "__dictoffset__",
            "__weakrefoffset__",
            "__text_signature__",
            "__type_params__",
        ];
        if !matches!(&*types::c_name(&found.get_type()), "member_descriptor" | "getset_descriptor") {
            return self.read_descriptor(found.clone(), object, meta, name);
        }
        // Names between underscores are compared in any case.
        match name {
            "__dict__" => self.rely_on_class(class),
            _ => self.rely_on_slots(class),
        }
        if name == "__class__" {
            return Ok(self.constant(meta.clone().into_any()));
        }
        if self.owned(object).is_some() {
            // `__doc__` may be a descriptor of the program.
            let value = self.with_callbacks(|| found.call_method1(name!("__get__"), (class,)));
            return self.after_native(value, &[]);
        }
        let read = |tracer: &mut Self| {
            found.call_method1(name!("__get__"), (class,)).or_else(|error| tracer.raise_error(error))
        };
        match name {
            "__dict__" => {
                let proxy = read(self)?;
                self.class_dict(&proxy)
            }
            // CPython: `type_get_annotations`, `type_get_annotate`. Classes of C have none.
            "__annotations__" | "__annotate__" if !types::is_heap(class) => {
                let value = read(self)?;
                Ok(self.absorb_static(value))
            }
            "__annotate__" if let Some(own) = own_annotate(class) => match has_get(&own) {
                true => self.bind_to_class(own, object, class, name),
                false => Ok(self.absorb_static(own)),
            },
            // CPython: `type_get_doc`, `type_get_annotations`.
            "__doc__" | "__annotations__" if let Some(own) = own_descriptor(class, name) => {
                self.bind_to_class(own, object, class, name)
            }
            "__annotations__" if own_annotations(class) => Ok({
                let value = read(self)?;
                self.absorb_static(value)
            }),
            "__name__" | "__qualname__" => {
                let name = if name == "__name__" { "__name__" } else { "__qualname__" };
                self.rely_on_name(class, name)?;
                let value = read(self)?;
                Ok(self.absorb_static(value))
            }
            _ if CONSTANT.contains(&name) => {
                let value = read(self)?;
                Ok(self.absorb_static(value))
            }
            _ => unsupported("attribute of a class that lives in C", name),
        }
    }

    /// What a class is called: its version does not tell of that. CPython: `type_set_name`, `type_set_qualname`.
    pub(crate) fn rely_on_name(&mut self, class: &Bound<'py, PyType>, name: &'static str) -> Traced<()> {
        let value = self.constant(class.clone().into_any());
        if self.owned(value).is_some() || types::is_immutable(class) {
            return Ok(());
        }
        let plain = self.py.get_type::<PyType>();
        let (plain, found) = (self.lookup(&plain, name), self.lookup(&class.get_type(), name));
        let Some(getter) = found.filter(|found| plain.is_some_and(|plain| plain.is(found))) else {
            return unsupported("metaclass with its own name for classes", name);
        };
        let called = getter.call_method1(name!("__get__"), (class,)).or_else(|error| internal(error.to_string()))?;
        let source = Source::OwnAttr(Arc::new(Source::constant(class.as_any())), name.into());
        let asked = if name == "__qualname__" { GuardRequest::QUALNAME } else { GuardRequest::NAME };
        self.guard_once(
            value,
            asked,
            source,
            Check::Equals(called.unbind()),
            "the trace read what the class is called",
        );
        Ok(())
    }

    /// A private view of what a class from outside holds, which the class's version guards.
    fn class_dict(&mut self, proxy: &Bound<'py, PyAny>) -> Traced<ValueId> {
        let copy = PyDict::new(self.py);
        let items =
            proxy.call_method0(name!("items")).and_then(|items| items.try_iter()?.collect::<PyResult<Vec<_>>>());
        for item in items.or_else(|error| self.raise_error(error))? {
            let Ok((key, value)) = item.extract::<(Bound<'py, PyAny>, Bound<'py, PyAny>)>() else {
                return internal("item of a class's namespace");
            };
            let value = self.absorb_static(value);
            let value = self.native(value)?;
            copy.set_item(key, value).or_else(|error| self.raise_error(error))?;
        }
        let view = proxy.get_type().call1((copy,)).or_else(|error| self.raise_error(error))?;
        Ok(self.own(view))
    }

    /// CPython: `type_setattro`. A class from outside changes only if its metaclass says how.
    pub(crate) fn type_set_attr(
        &mut self,
        object: ValueId,
        class: &Bound<'py, PyType>,
        name: &str,
        value: Option<ValueId>,
    ) -> Traced<()> {
        let meta = class.get_type();
        let method = if value.is_some() { "__setattr__" } else { "__delattr__" };
        let plain = self.import("builtins", "type")?.getattr(method).or_else(|error| self.raise_error(error))?;
        let key = interned(self.py, name).into_any();
        let setter = self.lookup(&meta, method);
        if let Some(setter) = setter.filter(|setter| !setter.is(&plain)) {
            let setter = self.absorb_static(setter);
            let mut args = vec![object, self.constant(key)];
            args.extend(value);
            return self.call(setter, Arguments::positional(args)).map(drop);
        }
        if self.owned(object).is_none() {
            // C refuses before it looks at the value. CPython: `type_setattro`.
            if types::is_immutable(class) {
                let done = match value {
                    Some(_) => plain.call1((class, key, self.py.None())),
                    None => plain.call1((class, key)),
                };
                return match done {
                    Ok(_) => internal("an attribute of an immutable class was set"),
                    Err(error) => self.raise_error(error),
                };
            }
            if let Some(value) = value
                && self.set_class_number(class, name, value)?
            {
                return Ok(());
            }
            return unsupported("attribute of a class, module or function is set", name);
        }
        self.plain_type_set_attr(class, name, value)
    }

    /// `type.__setattr__` on a class that the trace made.
    pub(crate) fn plain_type_set_attr(
        &mut self,
        class: &Bound<'py, PyType>,
        name: &str,
        value: Option<ValueId>,
    ) -> Traced<()> {
        let on_meta = self.lookup(&class.get_type(), name);
        if on_meta.is_some_and(|found| is_data_descriptor(&found) && !is_c_type(&found.get_type())) {
            return unsupported("attribute of a class is set through a descriptor", name);
        }
        let method = if value.is_some() { "__setattr__" } else { "__delattr__" };
        let plain = self.import("builtins", "type")?.getattr(method).or_else(|error| self.raise_error(error))?;
        let done = match value {
            Some(bases) if name == "__bases__" => return self.set_bases(class, bases),
            // C looks into it itself, where a proxy would stand for a class.
            Some(_) if name == "__class__" => return unsupported("class whose class is set", name),
            Some(value) => {
                let value = self.native(value)?;
                self.with_callbacks(|| plain.call1((class, name, value)))
            }
            None => self.with_callbacks(|| plain.call1((class, name))),
        };
        done.map(drop).or_else(|error| self.raise_error(error))?;
        self.refresh_proxy_class(class, name)
    }

    pub(crate) fn bind_to_class(
        &mut self,
        found: Bound<'py, PyAny>,
        object: ValueId,
        class: &Bound<'py, PyType>,
        name: &str,
    ) -> Traced<ValueId> {
        let kind = match self.value_of_proxy(&found) {
            Some(value) => self.class_of(value)?,
            None => found.get_type(),
        };
        match &*types::c_name(&kind) {
            "staticmethod" | "classmethod" | "classmethod_descriptor" => {
                let found = self.absorb_static(found);
                self.bind(found, object, class)
            }
            // CPython: `instancemethod_descr_get`.
            "instancemethod" => {
                let inner = found.getattr(intern!(self.py, "__func__")).or_else(|error| self.raise_error(error))?;
                Ok(self.absorb_static(inner))
            }
            "function"
            | "method"
            | "functools._lru_cache_wrapper"
            | "method_descriptor"
            | "wrapper_descriptor"
            | "property"
            | "member_descriptor"
            | "getset_descriptor"
            | "collections._tuplegetter"
            | "_collections._tuplegetter" => Ok(self.absorb_static(found)),
            _ if types::lookup(&kind, &interned(self.py, "__get__")).is_none() => Ok(self.absorb_static(found)),
            _ if is_c_type(&kind) => unsupported("C descriptor", name),
            _ => {
                let Some(get) = self.lookup(&kind, "__get__") else { return internal("__get__ vanished") };
                let (get, found, none) = (self.absorb_static(get), self.absorb_static(found), self.none());
                self.call(get, Arguments::positional(vec![found, none, object]))
            }
        }
    }
}

/// Whether it is the metaclass of the classes that pybind11 makes, whose `tp_getattro` it has.
fn is_of_pybind11(meta: &Bound<'_, PyType>, getattribute: &Bound<'_, PyAny>) -> bool {
    let is_own = || getattribute.getattr(name!("__objclass__")).is_ok_and(|owner| owner.is(meta));
    short_name(meta) == "pybind11_type" && types::is_c_class(&getattribute.get_type(), "wrapper_descriptor") && is_own()
}

fn is_instance_method(found: &Bound<'_, PyAny>) -> bool {
    types::is_c_class(&found.get_type(), "instancemethod")
}

/// Whether the class has annotations of its own already: asking another for them would make them.
fn own_annotations(class: &Bound<'_, PyType>) -> bool {
    let dict = class
        .py()
        .get_type::<PyType>()
        .getattr(intern!(class.py(), "__dict__"))
        .and_then(|dict| dict.get_item("__dict__"));
    let own = dict.and_then(|getter| getter.call_method1(name!("__get__"), (class,))).ok();
    let held = |name: &str| own.as_ref().is_some_and(|own| own.contains(name).unwrap_or(false));
    held("__annotations__") || held("__annotations_cache__")
}

/// What gives a class's annotations, as far as the class holds it: a read adds `None` to one that holds nothing.
fn own_annotate<'py>(class: &Bound<'py, PyType>) -> Option<Bound<'py, PyAny>> {
    let own = |name| types::own(class, &interned(class.py(), name));
    own("__annotate__").or_else(|| own("__annotate_func__"))
}

/// What a class of Python code has itself under a name, if it is a descriptor.
fn own_descriptor<'py>(class: &Bound<'py, PyType>, name: &str) -> Option<Bound<'py, PyAny>> {
    let own = types::own(class, &interned(class.py(), name)).filter(has_get);
    own.filter(|_| !types::is_immutable(class))
}
