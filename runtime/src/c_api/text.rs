//! Texts on both sides of the border.
use super::error::{Failure, Outcome};
use super::status::slotrt_status::SLOTRT_BAD_ARGUMENT;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use std::ffi::{CStr, c_char};

/// A text that the caller passes.
///
/// # Safety
/// `text` is NULL or ends with NUL.
pub(super) unsafe fn given<'a>(text: *const c_char, name: &str) -> Outcome<&'a str> {
    if text.is_null() {
        return Err(Failure::null(name));
    }
    // SAFETY: it is not NULL, so the caller vouches for it.
    let text = unsafe { CStr::from_ptr(text) }.to_str();
    text.map_err(|_| Failure::new(SLOTRT_BAD_ARGUMENT, format!("`{name}` is not UTF-8")))
}

/// The text of a `str`, which holds it for as long as it lives; NULL for anything else.
pub(super) fn of(object: &Bound<'_, PyAny>) -> *const c_char {
    let Ok(text) = object.cast::<PyString>() else { return std::ptr::null() };
    // SAFETY: it is a `str`; an exception, for what is no UTF-8, is taken back.
    let found = unsafe { ffi::PyUnicode_AsUTF8AndSize(text.as_ptr(), std::ptr::null_mut()) };
    if found.is_null() {
        drop(PyErr::take(object.py()));
    }
    found
}

/// The text of a dict's item; NULL where there is none. The dict holds it.
pub(super) fn item(dict: &Bound<'_, PyDict>, key: &str) -> *const c_char {
    dict.get_item(key).ok().flatten().map_or(std::ptr::null(), |value| of(&value))
}
