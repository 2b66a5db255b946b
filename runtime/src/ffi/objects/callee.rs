//! Names, modules, owners and receivers of callables, read from their structs: reading the attributes would make objects.
use super::inspect::own_attribute;
use crate::ffi::types::{self, text};
use generated::slots::Slot;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyFunction, PyString, PyType};
use std::borrow::Cow;
use std::ffi::CStr;

/// A function of C, bound or of a module.
fn c_function(object: &Bound<'_, PyAny>) -> Option<*mut ffi::PyCFunctionObject> {
    // SAFETY: the type is checked.
    unsafe { (ffi::PyCFunction_CheckExact(object.as_ptr()) != 0).then(|| object.as_ptr().cast()) }
}

/// A descriptor of C.
fn descriptor(object: &Bound<'_, PyAny>) -> Option<*mut ffi::PyDescrObject> {
    let class = object.get_type_ptr();
    let classes = [
        &raw mut ffi::PyMethodDescr_Type,
        &raw mut ffi::PyWrapperDescr_Type,
        &raw mut ffi::PyGetSetDescr_Type,
        &raw mut ffi::PyMemberDescr_Type,
        &raw mut ffi::PyClassMethodDescr_Type,
    ];
    classes.contains(&class).then(|| object.as_ptr().cast())
}

/// Whether a descriptor of a member or an attribute of C can only be read. CPython: `Py_READONLY`, `PyGetSetDef.set`.
#[must_use]
pub fn is_read_only(descriptor: &Bound<'_, PyAny>) -> bool {
    let (class, raw) = (descriptor.get_type_ptr(), descriptor.as_ptr());
    if class == &raw mut ffi::PyMemberDescr_Type {
        // SAFETY: the type is checked; such a descriptor points to a definition that lives as long.
        return unsafe { (*(*raw.cast::<ffi::PyMemberDescrObject>()).d_member).flags & ffi::Py_READONLY != 0 };
    }
    // SAFETY: the same.
    class == &raw mut ffi::PyGetSetDescr_Type
        && unsafe { (*(*raw.cast::<ffi::PyGetSetDescrObject>()).d_getset).set.is_none() }
}

/// The name in a descriptor, which lives as long; `None` if it is no UTF-8.
fn name_within<'a>(descriptor: *mut ffi::PyDescrObject, of: &'a Bound<'_, PyAny>) -> Option<&'a str> {
    let mut length = 0;
    // SAFETY: a descriptor holds its name, a string that nobody replaces; the answer is NULL with an exception set, or its UTF-8, which it keeps.
    unsafe {
        let text = ffi::PyUnicode_AsUTF8AndSize((*descriptor).d_name, &mut length).cast::<u8>();
        if text.is_null() {
            drop(PyErr::take(of.py()));
            return None;
        }
        Some(str::from_utf8_unchecked(std::slice::from_raw_parts(text, length as usize)))
    }
}

/// An attribute that is found without running code of the program.
fn read_alone<'py>(object: &Bound<'py, PyAny>, name: &Bound<'py, PyString>) -> Option<Bound<'py, PyAny>> {
    let class = object.get_type();
    if types::is_c_type(&class) {
        return object.getattr_opt(name).ok().flatten();
    }
    let runs = |found: &Bound<'py, PyAny>| {
        let kind = found.get_type();
        types::slot(&kind, Slot::tp_descr_set).is_some()
            && !matches!(&*types::c_name(&kind), "getset_descriptor" | "member_descriptor")
    };
    let found = types::lookup(&class, name);
    if found.is_some_and(|found| runs(&found)) { None } else { own_attribute(object, name) }
}

/// The text in an attribute; empty where there is none.
fn text_at(object: &Bound<'_, PyAny>, name: &Bound<'_, PyString>) -> String {
    let found = read_alone(object, name).and_then(|found| found.cast_into::<PyString>().ok());
    found.map(|found| text(&found)).unwrap_or_default()
}

/// `__name__`; empty where there is none.
#[must_use]
pub fn name_of<'a>(object: &'a Bound<'_, PyAny>) -> Cow<'a, str> {
    if let Some(function) = c_function(object) {
        // SAFETY: a function of C has a definition with a name that ends in NUL and lives as long.
        return types::utf8(unsafe { CStr::from_ptr((*(*function).m_ml).ml_name) });
    }
    if let Some(name) = descriptor(object).and_then(|descriptor| name_within(descriptor, object)) {
        return Cow::Borrowed(name);
    }
    Cow::Owned(text_at(object, intern!(object.py(), "__name__")))
}

/// `__qualname__` of a function.
#[must_use]
pub fn qualname_of(function: &Bound<'_, PyAny>) -> String {
    if function.is_exact_instance_of::<PyFunction>() {
        // SAFETY: a function's qualified name is a string.
        let name = unsafe {
            let raw = function.as_ptr().cast::<ffi::PyFunctionObject>();
            Bound::from_borrowed_ptr_or_opt(function.py(), (*raw).func_qualname)
        };
        if let Some(name) = name {
            return text(&name);
        }
    }
    text_at(function, intern!(function.py(), "__qualname__"))
}

/// `__self__`.
#[must_use]
pub fn receiver_of<'py>(object: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    if let Some(function) = c_function(object) {
        // SAFETY: of a function of C; the result is borrowed, NULL for static methods.
        let receiver =
            unsafe { Bound::from_borrowed_ptr_or_opt(object.py(), ffi::PyCFunction_GetSelf(function.cast())) };
        return Some(receiver.unwrap_or_else(|| object.py().None().into_bound(object.py())));
    }
    if descriptor(object).is_some() {
        return None;
    }
    read_alone(object, intern!(object.py(), "__self__"))
}

/// What C defines a function by, bound or of a module: the same for all objects that it is bound to, and it lives as long as the process.
#[must_use]
pub fn definition_of(object: &Bound<'_, PyAny>) -> Option<usize> {
    // SAFETY: of a function of C; the pointer is compared, never followed.
    c_function(object).map(|function| unsafe { (*function).m_ml as usize })
}

/// `__module__` of a function of C or of anything else that has a text there.
#[must_use]
pub fn module_name<'py>(object: &Bound<'py, PyAny>) -> Option<Bound<'py, PyString>> {
    let module = match c_function(object) {
        // SAFETY: of a function of C, which holds its module's name or NULL.
        Some(function) => unsafe { Bound::from_borrowed_ptr_or_opt(object.py(), (*function).m_module) },
        None => read_alone(object, intern!(object.py(), "__module__")),
    };
    module?.cast_into().ok()
}

/// The same; empty where there is none.
#[must_use]
pub fn module_of(object: &Bound<'_, PyAny>) -> String {
    module_name(object).map(|module| text(&module)).unwrap_or_default()
}

/// `__objclass__`: the class that a method of C belongs to.
#[must_use]
pub fn owner_of<'py>(object: &Bound<'py, PyAny>) -> Option<Bound<'py, PyType>> {
    if c_function(object).is_some() {
        return None;
    }
    if let Some(descriptor) = descriptor(object) {
        // SAFETY: a descriptor holds its class.
        return unsafe { Bound::from_borrowed_ptr_or_opt(object.py(), (*descriptor).d_type.cast())?.cast_into().ok() };
    }
    read_alone(object, intern!(object.py(), "__objclass__"))?.cast_into().ok()
}
