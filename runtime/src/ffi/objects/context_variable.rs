//! Context variables, read without running Python code.
use pyo3::ffi;
use pyo3::prelude::*;

/// The value of a `contextvars.ContextVar` in the running context, or its default; `None` where it has neither or `variable` is none.
#[must_use]
pub fn value<'py>(variable: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let mut value = std::ptr::null_mut();
    // SAFETY: the GIL is held; CPython checks the type and gives a new reference or NULL through `value`.
    let status = unsafe { ffi::PyContextVar_Get(variable.as_ptr(), std::ptr::null_mut(), &mut value) };
    if status < 0 {
        drop(PyErr::take(variable.py()));
        return None;
    }
    // SAFETY: on success `value` is NULL or a new reference that is ours.
    unsafe { Bound::from_owned_ptr_or_opt(variable.py(), value) }
}

/// Whether a `contextvars.ContextVar` has a value in the running context.
#[must_use]
pub fn is_set(variable: &Bound<'_, PyAny>) -> bool {
    let py = variable.py();
    // What it gives back for both is no value.
    let given = |default: Bound<'_, PyAny>| {
        let mut value = std::ptr::null_mut();
        // SAFETY: the GIL is held; CPython checks the type and gives a new reference through `value`.
        let status = unsafe { ffi::PyContextVar_Get(variable.as_ptr(), default.as_ptr(), &mut value) };
        if status < 0 {
            drop(PyErr::take(py));
            return true;
        }
        // SAFETY: on success `value` is a new reference that is ours.
        unsafe { Bound::from_owned_ptr_or_opt(py, value) }.is_some_and(|value| value.is(&default))
    };
    !(given(py.None().into_bound(py)) && given(py.NotImplemented().into_bound(py)))
}
