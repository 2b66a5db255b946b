//! `tp_flags` of live types, and what they tell.
use super::flag;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// `tp_flags`.
#[must_use]
pub fn flags(class: &Bound<'_, PyType>) -> u64 {
    // SAFETY: `class` is a live type object.
    unsafe { ffi::PyType_GetFlags(class.as_type_ptr()) as u64 }
}

/// Whether `tp_flags` has one of these bits.
#[must_use]
pub fn has(class: &Bound<'_, PyType>, flags: u64) -> bool {
    self::flags(class) & flags != 0
}

/// Whether the class was made at run time.
#[must_use]
pub fn is_heap(class: &Bound<'_, PyType>) -> bool {
    has(class, flag::HEAPTYPE)
}

/// Whether nobody can set attributes of the class.
#[must_use]
pub fn is_immutable(class: &Bound<'_, PyType>) -> bool {
    has(class, flag::IMMUTABLETYPE)
}

/// `PyType_Ready`, which C calls at the first lookup in some of its own classes, not before. What it refuses stays as it is, as it does there.
pub fn get_ready(class: &Bound<'_, PyType>) {
    if has(class, flag::READY) {
        return;
    }
    // SAFETY: `class` is a live type object; C does the same, with the GIL held, before it looks into one that is not ready.
    if unsafe { ffi::PyType_Ready(class.as_type_ptr()) } != 0 {
        drop(PyErr::take(class.py()));
    }
}

/// Whether C alone defines the class: no slot of it runs Python code.
#[must_use]
pub fn is_c_type(class: &Bound<'_, PyType>) -> bool {
    // What a `class` statement or `type()` makes: it may have subclasses, and change.
    const OF_PYTHON: u64 = flag::HEAPTYPE | flag::BASETYPE;
    flags(class) & (OF_PYTHON | flag::IMMUTABLETYPE) != OF_PYTHON
}
