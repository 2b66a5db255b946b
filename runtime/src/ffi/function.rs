//! Functions from code objects.
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyCode;

/// A function that runs `code` with the globals and the module name of `like`.
///
/// Unlike `types.FunctionType` this takes code with free variables without a closure: continuations get their cells as
/// arguments.
pub fn from_code<'py>(code: &Bound<'py, PyAny>, like: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if !code.is_instance_of::<PyCode>() {
        return Err(PyTypeError::new_err("expected a code object"));
    }
    let globals = like.getattr("__globals__")?.cast_into::<pyo3::types::PyDict>()?;
    // SAFETY: `code` is a code object and `globals` a dict; the result is a new reference or NULL with an exception set.
    let function =
        unsafe { Bound::from_owned_ptr_or_err(code.py(), ffi::PyFunction_New(code.as_ptr(), globals.as_ptr()))? };
    function.setattr("__module__", like.getattr("__module__")?)?;
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
