//! Setting and deleting attributes, under the names of the C functions.
use crate::domain::{Callee, Domain, Operand};
use crate::ffi::types;
use crate::ffi::types::is_c_type;
use crate::names::interned;
use crate::trace::attribute::descriptors::{
    has_generic_setattr, held_dict, is_data_descriptor, is_generic_setter, own_dict, own_dict_allowed,
};
use crate::trace::state::arguments::Arguments;
use crate::trace::state::numbers::TakenNumbers;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal, unsupported};
use crate::trace::state::value::{New, Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::{PyFunction, PyModule, PyString, PyType};
use std::sync::Arc;

impl<'py> Tracer<'py> {
    /// `PyObject_SetAttr`, `None` to delete.
    pub(crate) fn set_attr(&mut self, object: ValueId, name: &str, value: Option<ValueId>) -> Traced<()> {
        let class = self.class_of(object)?;
        if let Some(domain) = self.domain_of(&class) {
            return self.set_attr_of_graph_value(&domain, object, name, value);
        }
        if let Some(known) = self.known(object) {
            return match (self.owned(object), known.cast_into::<PyType>()) {
                (_, Ok(class)) => self.type_set_attr(object, &class, name, value),
                (None, Err(error)) => self.definition_set_attr(object, &error.into_inner(), name, value),
                _ => unsupported("attribute of a class, module or function is set", name),
            };
        }
        if let Some(referent) = self.behind_proxy(object)? {
            return self.set_attr(referent, name, value);
        }
        let method = if value.is_some() { "__setattr__" } else { "__delattr__" };
        let plain = self.of_object(method)?;
        match self.lookup(&class, method) {
            Some(found) if !found.is(&plain) && !is_c_type(&found.get_type()) || self.is_python(&class, method) => {
                let Some(found) = self.lookup(&class, method) else { return internal("method vanished") };
                let found = self.absorb_static(found);
                let name = interned(self.py, name).into_any();
                let mut args = vec![object, self.constant(name)];
                args.extend(value);
                self.call(found, Arguments::positional(args)).map(drop)
            }
            // `__setattr__ = dict.__setitem__`, and the like.
            Some(found) if !is_c_type(&class) && !is_generic_setter(&found, method) => {
                let found = self.absorb_static(found);
                let bound = self.bind(found, object, &class)?;
                let name = interned(self.py, name).into_any();
                let mut args = vec![self.constant(name)];
                args.extend(value);
                self.call(bound, Arguments::positional(args)).map(drop)
            }
            Some(found) if is_c_type(&class) && !has_generic_setattr(&class) => {
                self.c_set_attr(object, &found, name, value)
            }
            _ => self.generic_set_attr(object, name, value),
        }
    }

    /// An attribute that lives in C, or in the `__dict__` of the value.
    fn set_attr_of_graph_value(
        &mut self,
        domain: &Arc<dyn Domain>,
        object: ValueId,
        name: &str,
        value: Option<ValueId>,
    ) -> Traced<()> {
        self.refuse_change_of_choice()?;
        self.refuse_after_backward(domain, object, name, value)?;
        if let (Some(held), Some(value)) = (self.held_by_graph_value(domain, object, name), value) {
            // Anything else C looks at, and may refuse.
            if self.is_none(value)? || self.may_be_held(domain, object, name, value)? {
                self.before_overwriting(Some(held))?;
                return self.log_slot(object, name, Some(value));
            }
        }
        let class = self.class_of(object)?;
        let found = self.lookup(&class, name);
        let has_plain_setter = self
            .of_object("__setattr__")
            .is_ok_and(|plain| self.lookup(&class, "__setattr__").is_some_and(|found| found.is(&plain)));
        if let (true, Some(value), Some(setter)) = (has_plain_setter, value, domain.setter(self.py, name)) {
            return self.call_domain(domain, Callee::Function(setter), &[object, value], &[]).map(drop);
        }
        if !has_plain_setter || found.as_ref().is_some_and(is_data_descriptor) {
            return unsupported("attribute of a graph value is set", name);
        }
        if !matches!(self.value(object), Value::Node { .. }) {
            return self.generic_set_attr(object, name, value);
        }
        if !own_dict_allowed(&class) {
            // CPython refuses it, in words that differ between releases.
            return unsupported("attribute of a graph value that has no __dict__ is set", name);
        }
        let held = self.own_attr_of_graph_value(object, name)?;
        if held.is_none() && value.is_none() {
            if found.is_some() {
                return unsupported("attribute of the class of a graph value is deleted", name);
            }
            return self.raise_missing_attribute(object, &class, name);
        }
        self.before_overwriting(held)?;
        self.log_slot(object, name, value)
    }

    /// Whether the domain says that nothing refuses a value as an attribute.
    fn may_be_held(&mut self, domain: &Arc<dyn Domain>, object: ValueId, name: &str, value: ValueId) -> Traced<bool> {
        let class = self.class_of(value)?;
        if object == value || !domain.claims(&class) || domain.takes_over(&class) {
            return Ok(false);
        }
        let Some(real) = self.real(object) else { return Ok(false) };
        let is_fixed = |value| !self.state.numbers.layouts.contains_key(&value);
        if !is_fixed(object) || !is_fixed(value) {
            return Ok(false);
        }
        match self.operand_of(value, TakenNumbers::None)? {
            Operand::Graph { example, .. } => Ok(domain.may_hold(&real, name, &example)),
            _ => Ok(false),
        }
    }

    /// Whether what the class has under this name is a function of Python.
    pub(crate) fn is_python(&mut self, class: &Bound<'py, PyType>, method: &str) -> bool {
        self.lookup(class, method).is_some_and(|found| types::is_c_class(&found.get_type(), "function"))
    }

    /// `PyObject_GenericSetAttr`.
    pub(crate) fn generic_set_attr(&mut self, object: ValueId, name: &str, value: Option<ValueId>) -> Traced<()> {
        let class = self.class_of(object)?;
        if let Some(found) = self.lookup(&class, name)
            && is_data_descriptor(&found)
        {
            return self.write_descriptor(&found, object, &class, name, value);
        }
        if let Some(owned) = self.owned(object) {
            let value = value.map(|value| self.stored(value)).transpose()?;
            return self.plain_set(&owned, name, value.as_ref()).or_else(|error| self.raise_error(error));
        }
        let Some(real) = self.writable(object)? else {
            return unsupported("attribute of a symbolic value is set", name);
        };
        if !own_dict_allowed(&class) {
            // There is nowhere to put it: CPython says so in its own words, which differ between releases.
            let none = self.py.None().into_bound(self.py);
            return match self.plain_set(&real, name, value.map(|_| &none)) {
                Ok(()) => internal("an attribute was set where there is no place for it"),
                Err(error) => self.raise_error_about(object, &real, error),
            };
        }
        if value.is_none() && self.instance_attr(object, name)?.is_none() {
            // C gives the object its `__dict__` first.
            if crate::ffi::types::dictoffset(&class) > 0 {
                return unsupported("attribute that is not there is deleted", name);
            }
            // What the exception knows depends on where the object keeps its attributes.
            return match held_dict(&real).is_some_and(|dict| dict.contains(name).unwrap_or(true)) {
                true => unsupported("attribute that was deleted is deleted again", name),
                false => match self.plain_set(&real, name, None) {
                    Ok(()) => internal("an attribute was deleted that was not there"),
                    Err(error) => self.raise_error_about(object, &real, error),
                },
            };
        }
        if self.keeps_what_it_makes() && value.is_some() && self.instance_attr(object, name)?.is_none() {
            self.makes_what_is_kept()?;
        }
        self.log_attr(object, name, value)
    }

    fn write_descriptor(
        &mut self,
        found: &Bound<'py, PyAny>,
        object: ValueId,
        class: &Bound<'py, PyType>,
        name: &str,
        value: Option<ValueId>,
    ) -> Traced<()> {
        match &*types::c_name(&found.get_type()) {
            "property" => {
                let which = if value.is_some() { "fset" } else { "fdel" };
                let setter = found.getattr(which).or_else(|error| self.raise_error(error))?;
                if setter.is_none() {
                    let what = if value.is_some() { "setter" } else { "deleter" };
                    return self.raise_property_error(found, class, what);
                }
                let setter = self.absorb_static(setter);
                let mut args = vec![object];
                args.extend(value);
                self.call(setter, Arguments::positional(args)).map(drop)
            }
            "member_descriptor" | "getset_descriptor" => {
                if name == "__traceback__" && self.is_own_exception(object) {
                    return self.set_traceback(object, value);
                }
                if let Some(owned) = self.owned(object) {
                    let value = match value {
                        Some(value) => {
                            let exception = self
                                .owned(value)
                                .filter(|value| value.is_instance_of::<pyo3::exceptions::PyBaseException>());
                            let class = self
                                .known(value)
                                .filter(|known| name == "__class__" && known.is_instance_of::<PyType>());
                            // Parsers and the like call what they hold.
                            Some(exception.or(class).map_or_else(|| self.called_back(value), Ok)?)
                        }
                        None => None,
                    };
                    return self.plain_set(&owned, name, value.as_ref()).or_else(|error| self.raise_error(error));
                }
                // A slot of a class of Python code takes anything; members of C may not.
                let is_slot = types::is_c_class(&found.get_type(), "member_descriptor")
                    && crate::ffi::callee::owner_of(found).is_some_and(|owner| !is_c_type(&owner));
                if is_slot && value.is_some() {
                    self.before_overwriting_slot(object, found)?;
                    return self.log_slot(object, name, value);
                }
                if crate::ffi::callee::is_read_only(found)
                    && let Some(object) = self.writable(object)?
                {
                    let none = self.py.None().into_bound(self.py);
                    return match types::generic_set(&object, &interned(self.py, name), Some(&none)) {
                        Ok(()) => internal("an attribute was set that can only be read"),
                        Err(error) => self.raise_error(error),
                    };
                }
                match value {
                    Some(value) if self.is_label(object, name, value)? => {
                        self.before_overwriting_slot(object, found)?;
                        self.log_slot(object, name, Some(value))
                    }
                    _ => unsupported("attribute that lives in C is set", name),
                }
            }
            _ => {
                let kind = found.get_type();
                let method = if value.is_some() { "__set__" } else { "__delete__" };
                let setter = self.lookup(&kind, method);
                let Some(setter) = setter.filter(|_| !is_c_type(&kind)) else {
                    return unsupported("C descriptor is set", name);
                };
                let mut args = vec![self.absorb_static(setter), self.absorb_static(found.clone()), object];
                args.extend(value);
                let setter = args.remove(0);
                self.call(setter, Arguments::positional(args)).map(drop)
            }
        }
    }

    /// The object that says what cannot be set: any bound method stands for one of the trace.
    fn writable(&mut self, object: ValueId) -> Traced<Option<Bound<'py, PyAny>>> {
        if !matches!(self.value(object), Value::New(New::Method { .. })) {
            return Ok(self.real(object));
        }
        let (class, callable) = (self.import("types", "MethodType")?, self.import("builtins", "len")?);
        class.call1((&callable, &callable)).map(Some).or_else(|error| self.raise_error(error))
    }

    /// Whether the attribute is one of a function from outside that nothing but the attribute itself shows, and that takes the value.
    /// CPython: `func_set_name`, `func_memberlist`.
    fn is_label(&mut self, object: ValueId, name: &str, value: ValueId) -> Traced<bool> {
        let of_function = self.real(object).is_some_and(|object| object.is_exact_instance_of::<PyFunction>());
        Ok(of_function
            && match name {
                "__name__" => types::is_subtype(&self.class_of(value)?, &self.py.get_type::<PyString>()),
                "__doc__" | "__module__" => true,
                _ => false,
            })
    }

    /// A method of `object` itself.
    pub(crate) fn of_object(&self, name: &str) -> Traced<Bound<'py, PyAny>> {
        let found = types::lookup(&self.py.get_type::<PyAny>(), &interned(self.py, name));
        found.map_or_else(|| internal("object's methods"), Ok)
    }

    /// `object.__getattribute__`, which runs no Python code of the class.
    pub(crate) fn plain_get(&mut self, object: &Bound<'py, PyAny>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let name = interned(self.py, name);
        self.with_callbacks(|| types::generic_get(object, &name))
    }

    /// `object.__setattr__`, or `object.__delattr__`, which run none either.
    fn plain_set(&mut self, object: &Bound<'py, PyAny>, name: &str, value: Option<&Bound<'py, PyAny>>) -> PyResult<()> {
        let name = interned(self.py, name);
        self.with_callbacks(|| types::generic_set(object, &name, value))
    }

    /// An attribute of a module, a function, or another object from outside that its identity tells all of.
    fn definition_set_attr(
        &mut self,
        object: ValueId,
        real: &Bound<'py, PyAny>,
        name: &str,
        value: Option<ValueId>,
    ) -> Traced<()> {
        let class = real.get_type();
        let has_no_place = !own_dict_allowed(&class) && has_generic_setattr(&class);
        match has_no_place || real.is_exact_instance_of::<PyFunction>() {
            true => self.generic_set_attr(object, name, value),
            false => self.module_set_attr(real, name, value),
        }
    }

    /// A module's attributes are its globals.
    fn module_set_attr(&mut self, module: &Bound<'py, PyAny>, name: &str, value: Option<ValueId>) -> Traced<()> {
        const REFUSED: &str = "attribute of a class, module or function is set";
        let dict = own_dict(module).filter(|_| module.is_exact_instance_of::<PyModule>());
        let Some(dict) = dict else { return unsupported(REFUSED, name) };
        self.refuse_given_globals(Some(dict.as_any()))?;
        if self.lookup(&module.get_type(), name).is_some_and(|found| is_data_descriptor(&found)) {
            return unsupported(REFUSED, name);
        }
        match value {
            Some(value) => self.set_in_globals(dict, name, value)?,
            None if self.delete_in_globals(dict, name)? => {}
            None => return unsupported(REFUSED, name),
        }
        Ok(())
    }
}
