//! Where a live type stands: MRO, base, namespace, layout of its instances, version tag.
use crate::ffi::release;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};

unsafe extern "C" {
    fn _PyType_Lookup(class: *mut ffi::PyTypeObject, name: *mut ffi::PyObject) -> *mut ffi::PyObject;
    #[cfg(Py_3_12)]
    fn PyType_GetDict(class: *mut ffi::PyTypeObject) -> *mut ffi::PyObject;
}

/// `tp_mro`; `None` while the type is being made.
#[must_use]
pub fn mro<'py>(class: &Bound<'py, PyType>) -> Option<Bound<'py, PyTuple>> {
    // SAFETY: `tp_mro` is NULL or a tuple.
    let mro = unsafe { Bound::from_borrowed_ptr_or_opt(class.py(), (*class.as_type_ptr()).tp_mro) };
    mro.and_then(|mro| mro.cast_into().ok())
}

/// `tp_base`.
#[must_use]
pub fn base<'py>(class: &Bound<'py, PyType>) -> Option<Bound<'py, PyType>> {
    // SAFETY: `tp_base` is NULL or a type.
    let base = unsafe { Bound::from_borrowed_ptr_or_opt(class.py(), (*class.as_type_ptr()).tp_base.cast()) };
    base.and_then(|base| base.cast_into().ok())
}

/// `PyType_IsSubtype`.
#[must_use]
pub fn is_subtype(class: &Bound<'_, PyType>, of: &Bound<'_, PyType>) -> bool {
    // SAFETY: both are live type objects.
    unsafe { ffi::PyType_IsSubtype(class.as_type_ptr(), of.as_type_ptr()) != 0 }
}

/// Whether instances have fields that those of `tp_base` have not: slots, or places for weak references or a dict.
#[must_use]
pub fn adds_fields(class: &Bound<'_, PyType>) -> bool {
    // SAFETY: `class` is a live type object; its base, if it has one, is another.
    unsafe {
        let class = class.as_type_ptr();
        let base = (*class).tp_base;
        base.is_null() || (*class).tp_basicsize != (*base).tp_basicsize
    }
}

/// Whether instances have fields of C's own: others than a `__dict__` and a list of weak references.
#[must_use]
pub fn has_own_fields(class: &Bound<'_, PyType>) -> bool {
    // SAFETY: `class` is a live type object.
    let size = unsafe { (*class.as_type_ptr()).tp_basicsize };
    let common = [dictoffset(class), weaklistoffset(class)].into_iter().filter(|offset| *offset > 0).count();
    size > (size_of::<ffi::PyObject>() + common * size_of::<*mut ffi::PyObject>()).cast_signed()
}

/// `tp_basicsize`.
#[must_use]
pub fn basicsize(class: &Bound<'_, PyType>) -> usize {
    // SAFETY: `class` is a live type object.
    unsafe { (*class.as_type_ptr()).tp_basicsize }.cast_unsigned()
}

/// `tp_dictoffset`: 0 without a `__dict__`, negative for a managed one.
#[must_use]
pub fn dictoffset(class: &Bound<'_, PyType>) -> isize {
    // SAFETY: `class` is a live type object.
    unsafe { (*class.as_type_ptr()).tp_dictoffset }
}

/// `tp_weaklistoffset`: 0 where no weak references are possible.
#[must_use]
pub fn weaklistoffset(class: &Bound<'_, PyType>) -> isize {
    // SAFETY: `class` is a live type object.
    unsafe { (*class.as_type_ptr()).tp_weaklistoffset }
}

/// `_PyType_Lookup`: the attribute along the MRO, without binding it; runs no Python code.
#[must_use]
pub fn lookup<'py>(class: &Bound<'py, PyType>, name: &Bound<'py, PyString>) -> Option<Bound<'py, PyAny>> {
    // SAFETY: both are live; the borrowed result is held at once.
    unsafe { Bound::from_borrowed_ptr_or_opt(class.py(), _PyType_Lookup(class.as_type_ptr(), name.as_ptr())) }
}

/// What the class itself has under this name, bases left aside; runs no Python code.
#[must_use]
pub fn own<'py>(class: &Bound<'py, PyType>, name: &Bound<'py, PyString>) -> Option<Bound<'py, PyAny>> {
    namespace(class)?.get_item(name).ok()?
}

/// The class's own namespace: to read, never to write.
pub(crate) fn namespace<'py>(class: &Bound<'py, PyType>) -> Option<Bound<'py, PyDict>> {
    // SAFETY: a live type object, whose namespace is a dict.
    #[cfg(Py_3_12)]
    let namespace = unsafe { Bound::from_owned_ptr_or_opt(class.py(), PyType_GetDict(class.as_type_ptr())) };
    // SAFETY: the same.
    #[cfg(not(Py_3_12))]
    let namespace = unsafe { Bound::from_borrowed_ptr_or_opt(class.py(), (*class.as_type_ptr()).tp_dict) };
    namespace?.cast_into().ok()
}

/// # Safety
/// Attached; both arguments must be live.
pub(in crate::ffi) unsafe fn lookup_raw(class: *mut ffi::PyTypeObject, name: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: as the caller promises.
    unsafe { _PyType_Lookup(class, name) }
}

/// The type's version tag, assigned if it can have one; 0 if not. Equal tags mean: nothing that attribute lookup on the
/// type can see has changed.
#[must_use]
pub fn version_tag(class: &Bound<'_, PyType>) -> u32 {
    // SAFETY: `class` is a live type object.
    unsafe { release::version_tag(class.as_type_ptr()) }
}
