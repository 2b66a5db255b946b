//! Fields of code objects, and the kinds of their fast variables: `co_localspluskinds`, which `code.replace()` keeps by index.
use crate::ffi::raw;
use crate::ffi::release::PyCodeObject;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCode, PyString, PyTuple};
use std::ffi::c_int;
use std::mem::offset_of;

const NAMES: usize = offset_of!(PyCodeObject, co_localsplusnames);
const KINDS: usize = offset_of!(PyCodeObject, co_localspluskinds);
const FREE_VARIABLES: usize = offset_of!(PyCodeObject, co_nfreevars);

/// `CO_FAST_FREE`.
const FREE: u8 = 0x80;

/// `CO_FAST_*` of each slot.
///
/// # Errors
/// `TypeError` for anything but a code object.
pub fn kinds(code: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    let code = code.cast::<PyCode>()?;
    // SAFETY: a code object has its kinds as a bytes object, which lives as long as it does.
    let kinds = unsafe { Bound::from_borrowed_ptr(code.py(), raw::read(code.as_ptr().cast(), KINDS)) };
    Ok(kinds.cast_into::<PyBytes>()?.as_bytes().to_vec())
}

/// `co_argcount`, `co_posonlyargcount`, `co_kwonlyargcount`, `co_flags`, `co_stacksize`, `co_firstlineno`.
///
/// # Errors
/// `TypeError` for anything but a code object.
pub fn numbers(code: &Bound<'_, PyAny>) -> PyResult<[c_int; 6]> {
    const NUMBERS: [usize; 6] = [
        offset_of!(PyCodeObject, co_argcount),
        offset_of!(PyCodeObject, co_posonlyargcount),
        offset_of!(PyCodeObject, co_kwonlyargcount),
        offset_of!(PyCodeObject, co_flags),
        offset_of!(PyCodeObject, co_stacksize),
        offset_of!(PyCodeObject, co_firstlineno),
    ];
    let code = code.cast::<PyCode>()?;
    // SAFETY: these are fields of a live code object.
    Ok(NUMBERS.map(|field| unsafe { raw::read(code.as_ptr().cast(), field) }))
}

/// `co_consts`, `co_names`, `co_filename`, `co_name`, `co_qualname`, `co_linetable`, `co_exceptiontable`.
///
/// # Errors
/// `TypeError` for anything but a code object.
pub fn objects<'py>(code: &Bound<'py, PyAny>) -> PyResult<[Bound<'py, PyAny>; 7]> {
    const OBJECTS: [usize; 7] = [
        offset_of!(PyCodeObject, co_consts),
        offset_of!(PyCodeObject, co_names),
        offset_of!(PyCodeObject, co_filename),
        offset_of!(PyCodeObject, co_name),
        offset_of!(PyCodeObject, co_qualname),
        offset_of!(PyCodeObject, co_linetable),
        offset_of!(PyCodeObject, co_exceptiontable),
    ];
    let code = code.cast::<PyCode>()?;
    // SAFETY: these are fields of a live code object, each with an object that lives as long as it does.
    Ok(OBJECTS.map(|field| unsafe { Bound::from_borrowed_ptr(code.py(), raw::read(code.as_ptr().cast(), field)) }))
}

/// One of `co_names`, which are interned; `None` for anything but a code object, and where there are fewer.
#[must_use]
pub fn name_at<'py>(code: &Bound<'py, PyAny>, index: usize) -> Option<Bound<'py, PyString>> {
    let code = code.cast::<PyCode>().ok()?;
    // SAFETY: a code object has its names as a tuple, which lives as long as it does.
    let names =
        unsafe { Borrowed::from_ptr(code.py(), raw::read(code.as_ptr().cast(), offset_of!(PyCodeObject, co_names))) };
    names.cast::<PyTuple>().ok()?.get_borrowed_item(index).ok()?.to_owned().cast_into().ok()
}

/// The name of the variable in each slot.
///
/// # Errors
/// `TypeError` for anything but a code object.
pub fn names<'py>(code: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
    let code = code.cast::<PyCode>()?;
    // SAFETY: a code object has these names as a tuple, which lives as long as it does.
    let names = unsafe { Bound::from_borrowed_ptr(code.py(), raw::read(code.as_ptr().cast(), NAMES)) };
    Ok(names.cast_into()?)
}

/// Sets `CO_FAST_*` of each slot, and how many are free variables by that. Nobody but the caller may know the code object yet.
///
/// # Errors
/// `TypeError` for anything but a code object; `ValueError` where the number of slots is another.
pub fn set_kinds(code: &Bound<'_, PyAny>, new: &[u8]) -> PyResult<()> {
    if kinds(code)?.len() != new.len() {
        return Err(pyo3::exceptions::PyValueError::new_err("as many kinds as fast variables are needed"));
    }
    let made = PyBytes::new(code.py(), new).into_ptr();
    let free = new.iter().filter(|kind| **kind & FREE != 0).count() as c_int;
    // SAFETY: a code object, by the check above, owns its kinds; the old ones are dropped once the new are in place, and the number
    // of free variables is that of the kinds.
    unsafe {
        let raw = code.as_ptr().cast::<u8>();
        let old: *mut ffi::PyObject = raw::read(raw, KINDS);
        raw::write(raw, KINDS, made);
        raw::write(raw, FREE_VARIABLES, free);
        ffi::Py_DECREF(old);
    }
    Ok(())
}
