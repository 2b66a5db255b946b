//! Attributes of objects of C classes that have their own `tp_getattro` or `tp_setattro`: C runs it on the private object.
use crate::ffi::types;
use crate::names::name;
use crate::trace::attribute::descriptors::{
    has_generic_getattr, has_get, is_data_descriptor, own_dict_allowed, short_name,
};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::PyType;

impl<'py> Tracer<'py> {
    /// Attributes of objects of C classes.
    pub(crate) fn c_get_attr(&mut self, object: ValueId, class: &Bound<'py, PyType>, name: &str) -> Traced<ValueId> {
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
            if let Some(value) = self.token_attr(object, name)? {
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
    pub(crate) fn raise_property_error<T>(
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
        if name == "__class__" && types::is_c_class(class, "method") {
            return Ok(self.constant(class.clone().into_any()));
        }
        if types::is_c_class(class, "method") && self.owned(object).is_none() {
            let (function, receiver) = self.parts_of_method(object)?;
            return self.method_get_attr(object, function, receiver, name);
        }
        if let Some(value) = self.thread_local_attr(object, name)? {
            return Ok(value);
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
    pub(crate) fn c_set_attr(
        &mut self,
        object: ValueId,
        setter: &Bound<'py, PyAny>,
        name: &str,
        value: Option<ValueId>,
    ) -> Traced<()> {
        if self.set_thread_local(object, name, value)? {
            return Ok(());
        }
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
