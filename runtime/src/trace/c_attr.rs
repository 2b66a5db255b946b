//! Attributes of objects of C classes: those that look them up or set them in their own way, on private objects.
use super::attr::{has_get, is_data_descriptor, own_dict_allowed, short_name};
use super::signal::{Traced, internal, unsupported};
use super::state::Tracer;
use super::value::ValueId;
use crate::ffi::callee;
use crate::ffi::types;
use crate::names::name;
use generated::slots::Slot;
use pyo3::prelude::*;
use pyo3::types::PyType;

impl<'py> Tracer<'py> {
    /// Attributes of objects of C classes.
    pub(super) fn c_get_attr(&mut self, object: ValueId, class: &Bound<'py, PyType>, name: &str) -> Traced<ValueId> {
        if !has_generic_getattr(class) {
            return self.c_own_getattr(object, class, name);
        }
        let Some(found) = self.lookup(class, name) else {
            if let Some(owned) = self.owned(object) {
                let read = self.plain_get(&owned, name);
                return self.after_native(read, &[]);
            }
            if own_dict_allowed(class) {
                return match self.instance_attr(object, name)? {
                    Some(value) => Ok(value),
                    None => self.raise_missing_attribute(object, class, name),
                };
            }
            return self.raise_missing_attribute(object, class, name);
        };
        if is_data_descriptor(&found) && has_get(&found) {
            if let Some(value) = self.generator_attr(object, name)? {
                return Ok(value);
            }
            if let Some(value) = self.traceback_attr(object, name)? {
                return Ok(value);
            }
            return self.read_descriptor(found, object, class, name);
        }
        if own_dict_allowed(class)
            && let Some(value) = self.instance_attr(object, name)?
        {
            return Ok(value);
        }
        // Its `__dict__` may be hidden.
        if let Some(owned) = self.owned(object).filter(|_| !has_get(&found)) {
            let read = self.plain_get(&owned, name);
            return self.after_native(read, &[]);
        }
        let found = self.absorb_static(found);
        self.bind(found, object, class)
    }

    /// CPython: `property_descr_get`, `property_descr_set`.
    pub(super) fn raise_property_error<T>(
        &mut self,
        property: &Bound<'py, PyAny>,
        class: &Bound<'py, PyType>,
        what: &str,
    ) -> Traced<T> {
        // The words differ between releases, the name is the property's secret in some: an object of an empty class is refused as the object is.
        const STAND_IN: &std::ffi::CStr = c"lambda qualname: type('stand_in', (), {'__qualname__': qualname})()";
        let stand_in = class.qualname().and_then(|qualname| self.py.eval(STAND_IN, None, None)?.call1((qualname,)));
        let stand_in = stand_in.or_else(|error| internal(error.to_string()))?;
        let plain = self.import("builtins", "property")?;
        let none = self.py.None();
        let refused = self.with_callbacks(|| match what {
            "getter" => plain.call_method1(name!("__get__"), (property, &stand_in)),
            "setter" => plain.call_method1(name!("__set__"), (property, &stand_in, none)),
            _ => plain.call_method1(name!("__delete__"), (property, &stand_in)),
        });
        match refused {
            Ok(_) => internal(format!("a property without a {what} let it pass")),
            Err(error) => self.raise_error(error),
        }
    }

    /// Attributes of objects of C classes that look them up in their own way.
    fn c_own_getattr(&mut self, object: ValueId, class: &Bound<'py, PyType>, name: &str) -> Traced<ValueId> {
        // CPython: `method_getattro` asks the class first.
        if name == "__class__" && types::c_name(class) == "method" {
            return Ok(self.constant(class.clone().into_any()));
        }
        self.adopt_context(object)?;
        let found = self.lookup(class, "__getattribute__");
        let value = match self.owned(object) {
            Some(owned) => Some(owned),
            None => self.unchanging(object)?,
        };
        let (Some(value), Some(found)) = (value, found) else {
            return unsupported("attribute of an object of a C class", format!("{}.{name}", short_name(class)));
        };
        let read = self.with_callbacks(|| found.call1((value, name)));
        self.after_native(read, &[])
    }

    /// An attribute of an object of a C class that sets them in its own way.
    pub(super) fn c_set_attr(
        &mut self,
        object: ValueId,
        setter: &Bound<'py, PyAny>,
        name: &str,
        value: Option<ValueId>,
    ) -> Traced<()> {
        self.adopt_context(object)?;
        let Some(owned) = self.owned(object) else {
            return unsupported("attribute of an object of a C class is set", name);
        };
        let done = match value {
            Some(value) => {
                let value = self.native(value)?;
                self.with_callbacks(|| setter.call1((owned, name, value)))
            }
            None => self.with_callbacks(|| setter.call1((owned, name))),
        };
        self.after_native(done, &[]).map(drop)
    }
}

/// Whether `tp_getattro` of the class is `PyObject_GenericGetAttr`.
pub(super) fn has_generic_getattr(class: &Bound<'_, PyType>) -> bool {
    let slot =
        |class: &Bound<'_, PyType>| types::slot_pointer(class, Slot::tp_getattro.suite(), Slot::tp_getattro.offset());
    slot(class) == slot(&class.py().get_type::<PyAny>())
}

/// Whether `tp_setattro` of the class is `PyObject_GenericSetAttr`.
pub(super) fn has_generic_setattr(class: &Bound<'_, PyType>) -> bool {
    let slot =
        |class: &Bound<'_, PyType>| types::slot_pointer(class, Slot::tp_setattro.suite(), Slot::tp_setattro.offset());
    slot(class) == slot(&class.py().get_type::<PyAny>())
}

/// The class of C that a slot wrapper is of, if it is one of that name.
fn owner_of<'py>(found: &Bound<'py, PyAny>, method: &str) -> Option<Bound<'py, PyType>> {
    let is_it = types::c_name(&found.get_type()) == "wrapper_descriptor" && callee::name_of(found) == method;
    if is_it { callee::owner_of(found) } else { None }
}

/// Whether this `__getattribute__` wraps `PyObject_GenericGetAttr` of a C class.
pub(super) fn is_generic_wrapper(found: &Bound<'_, PyAny>) -> bool {
    owner_of(found, "__getattribute__").is_some_and(|owner| has_generic_getattr(&owner))
}

/// Whether this `__setattr__` or `__delattr__` wraps `PyObject_GenericSetAttr` of a C class.
pub(super) fn is_generic_setter(found: &Bound<'_, PyAny>, method: &str) -> bool {
    owner_of(found, method).is_some_and(|owner| has_generic_setattr(&owner))
}
