//! The error of a missing attribute, and what CPython adds to it.
use crate::names::{Name, name};
use crate::trace::attribute::descriptors::{is_generic_setter, short_name};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, internal, unsupported};
use crate::trace::state::value::ValueId;
use crate::trace::value::kinds::{is_definition, is_of_one_object};
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::types::PyType;

impl<'py> Tracer<'py> {
    /// `PyObject_GetAttr`.
    pub(crate) fn get_attr(&mut self, object: ValueId, name: &str) -> Traced<ValueId> {
        let result = self.getattro(object, name);
        self.in_context(result, object, name)
    }

    /// `PyObject_GetOptionalAttr`.
    pub(crate) fn optional_attr(&mut self, object: ValueId, name: &str) -> Traced<Option<ValueId>> {
        // No exception is made, which would hold the number.
        if self.is_number(object) {
            let class = self.class_of(object)?;
            if self.lookup(&class, name).is_none() {
                return Ok(None);
            }
        }
        let read = self.getattro(object, name);
        self.unless_missing(read)
    }

    /// What reading an attribute gave; nothing where an `AttributeError` said so.
    pub(crate) fn unless_missing<T>(&mut self, read: Traced<T>) -> Traced<Option<T>> {
        match read {
            Ok(value) => Ok(Some(value)),
            Err(signal) if self.raised_is(&signal, "AttributeError")? => Ok(None),
            Err(signal) => Err(signal),
        }
    }

    /// What reading an attribute gave; an `AttributeError` knows then which it was, and of what.
    pub(crate) fn in_context<T>(&mut self, result: Traced<T>, object: ValueId, name: &str) -> Traced<T> {
        if let Err(Unwind::Raised(exception)) = &result {
            self.set_attribute_error_context_of(*exception, object, name)?;
        }
        result
    }

    /// `_PyObject_SetAttributeErrorContext`.
    pub(crate) fn set_attribute_error_context_of(
        &mut self,
        exception: ValueId,
        object: ValueId,
        name: &str,
    ) -> Traced<()> {
        let kind = self.py.get_type::<PyAttributeError>();
        let class = self.class_of(exception)?;
        if !crate::ffi::types::is_subtype(&class, &kind) {
            return Ok(());
        }
        let raised = self.owned(exception);
        let Some(known) = raised.clone().or_else(|| self.real(exception)) else {
            return internal("an exception that is no object");
        };
        let own = class.is(&kind);
        // A class that derives from it may define the two anew, or how they are set.
        let member = |name: &'static Name| match own {
            true => known.getattr(name),
            false => kind.getattr(name).and_then(|member| member.call_method1(name!("__get__"), (&known,))),
        };
        let unset = |name| member(name).is_ok_and(|value| value.is_none());
        if !unset(name!("name")) || !unset(name!("obj")) {
            return Ok(());
        }
        if !own && !self.sets_members_as(&class, &kind) {
            return unsupported("attribute error with its own way to set attributes", short_name(&class));
        }
        let Some(raised) = raised else {
            return unsupported("attribute error from outside", "reading an attribute adds to it");
        };
        let object = self.named_object(object)?;
        crate::trace::state::journal::changed();
        let set = raised.setattr(name!("name"), name).and_then(|()| raised.setattr(name!("obj"), object));
        set.or_else(|error| internal(error.to_string()))
    }

    /// Whether the name and the object of an error of this class are set as those of the base are.
    fn sets_members_as(&mut self, class: &Bound<'py, PyType>, base: &Bound<'py, PyType>) -> bool {
        let plain = |name: &str, found: &Bound<'py, PyAny>| base.getattr(name).is_ok_and(|member| member.is(found));
        self.lookup(class, "__setattr__").is_some_and(|found| is_generic_setter(&found, "__setattr__"))
            && ["name", "obj"].iter().all(|name| self.lookup(class, name).is_some_and(|found| plain(name, &found)))
    }

    /// What the exception holds for the object: classes, functions and modules are themselves.
    fn named_object(&mut self, object: ValueId) -> Traced<Bound<'py, PyAny>> {
        match self.known(object).filter(|known| is_definition(known) && !is_of_one_object(known)) {
            Some(known) => Ok(known),
            None => self.native(object),
        }
    }

    /// Raises what C raised about an object from outside, which the exception may name.
    pub(crate) fn raise_error_about<T>(
        &mut self,
        object: ValueId,
        real: &Bound<'py, PyAny>,
        error: PyErr,
    ) -> Traced<T> {
        let exception = error.value(self.py);
        if exception.getattr(name!("obj")).is_ok_and(|named| named.is(real)) {
            let object = self.named_object(object)?;
            exception.setattr(name!("obj"), object).or_else(|error| internal(error.to_string()))?;
        }
        self.raise_error(error)
    }

    /// What C says of a slot without a value.
    pub(crate) fn raise_empty_slot<T>(&mut self, object: ValueId, name: &str, text: String) -> Traced<T> {
        let raised = self.raise("AttributeError", text);
        self.in_context(raised, object, name)
    }

    /// `PyObject_GenericGetAttr` of what is not there.
    pub(crate) fn raise_missing_attribute<T>(
        &mut self,
        object: ValueId,
        class: &Bound<'py, PyType>,
        name: &str,
    ) -> Traced<T> {
        let raised = self.raise("AttributeError", format!("'{}' object has no attribute '{name}'", short_name(class)));
        self.in_context(raised, object, name)
    }
}
