//! Functions from code objects.
use crate::ffi::{inspect, layout, raw};
use crate::names::name;
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyTuple};
use std::mem::ManuallyDrop;

/// A function that runs `code` with the globals and the module name of `like`.
///
/// Unlike `types.FunctionType` this takes code with free variables without a closure: continuations get their cells as
/// arguments.
pub fn from_code<'py>(code: &Bound<'py, PyAny>, like: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if !code.is_instance_of::<PyCode>() {
        return Err(PyTypeError::new_err("expected a code object"));
    }
    let globals = like.getattr(name!("__globals__"))?.cast_into::<pyo3::types::PyDict>()?;
    // SAFETY: `code` is a code object and `globals` a dict; the result is a new reference or NULL with an exception set.
    let function =
        unsafe { Bound::from_owned_ptr_or_err(code.py(), ffi::PyFunction_New(code.as_ptr(), globals.as_ptr()))? };
    function.setattr(name!("__module__"), like.getattr(name!("__module__"))?)?;
    Ok(function)
}

/// Whether the function still runs this code object (nobody assigned to `__code__`).
///
/// `function` must be a Python function; anything else gives false.
#[must_use]
pub fn runs(function: &Bound<'_, PyAny>, code: *mut ffi::PyObject) -> bool {
    // SAFETY: the type is checked before the field is read.
    unsafe { ffi::PyFunction_Check(function.as_ptr()) != 0 && ffi::PyFunction_GetCode(function.as_ptr()) == code }
}

/// Shows the collector what a function's code holds: code objects do not take part in garbage collection, so a cycle
/// through their constants would live for ever.
///
/// Nothing is shown unless `function` is the only owner of its code and the caller the only owner of `function`: then the
/// constants belong to the caller alone.
pub fn visit_constants(function: &Py<PyAny>, visit: &mut dyn FnMut(&Py<PyAny>)) {
    // SAFETY: the type is checked before fields are read; a function's code is a code object; the handle made from the
    // borrowed pointer is never dropped.
    unsafe {
        let raw = function.as_ptr();
        if ffi::PyFunction_Check(raw) == 0 || ffi::Py_REFCNT(raw) != 1 {
            return;
        }
        let code = ffi::PyFunction_GetCode(raw);
        if code.is_null() || ffi::Py_REFCNT(code) != 1 {
            return;
        }
        let consts = raw::read::<*mut ffi::PyObject>(code.cast(), layout::code::CO_CONSTS);
        if !consts.is_null() {
            // Borrowed: a counted reference would make the collector see one owner too many.
            let consts = ManuallyDrop::new(Bound::from_owned_ptr(Python::assume_attached(), consts).unbind());
            visit(&consts);
        }
    }
}

/// A function as `MAKE_FUNCTION` makes it; the closure may come later, with [`set_closure`].
pub fn new<'py>(code: &Bound<'py, PyAny>, globals: &Bound<'py, pyo3::types::PyDict>) -> PyResult<Bound<'py, PyAny>> {
    if !code.is_instance_of::<PyCode>() {
        return Err(PyTypeError::new_err("expected a code object"));
    }
    // SAFETY: `code` is a code object and `globals` a dict; the result is a new reference or NULL with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(code.py(), ffi::PyFunction_New(code.as_ptr(), globals.as_ptr())) }
}

/// A function like `entry` with the closure of `function`; `entry` itself where that has none.
pub fn with_closure<'py>(entry: &Bound<'py, PyAny>, function: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let Some(closure) = inspect::function_closure(function) else { return Ok(entry.clone()) };
    let code = inspect::function_code(entry).ok_or_else(|| PyTypeError::new_err("expected a function"))?;
    let globals = entry.getattr(name!("__globals__"))?.cast_into::<pyo3::types::PyDict>()?;
    let made = new(&code, &globals)?;
    set_closure(&made, Some(closure.cast::<PyTuple>()?))?;
    Ok(made)
}

/// Sets or drops `__closure__`. A function whose closure holds anything but cells must never run natively.
pub fn set_closure(function: &Bound<'_, PyAny>, cells: Option<&Bound<'_, PyTuple>>) -> PyResult<()> {
    unsafe extern "C" {
        fn PyFunction_SetClosure(function: *mut ffi::PyObject, closure: *mut ffi::PyObject) -> std::ffi::c_int;
    }
    // SAFETY: attached.
    let closure = cells.map_or_else(|| unsafe { ffi::Py_None() }, |cells| cells.as_ptr());
    // SAFETY: the type of `function` is checked by the callee, which takes its own reference to the tuple.
    match unsafe { PyFunction_SetClosure(function.as_ptr(), closure) } {
        0 => Ok(()),
        _ => Err(PyErr::fetch(function.py())),
    }
}
