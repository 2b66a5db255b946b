//! Slots that only sequences have (`sq_concat`…). In a class made at run time no special method fills them: functions of ours are set there.
use super::slots::{set_slot, slot};
use generated::slots::Slot;
use pyo3::exceptions::PySystemError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What the slots do.
pub trait Sequence {
    /// `sq_concat`, `sq_inplace_concat`.
    fn concat<'py>(one: &Bound<'py, PyAny>, other: &Bound<'py, PyAny>, in_place: bool) -> PyResult<Bound<'py, PyAny>>;

    /// `sq_repeat`, `sq_inplace_repeat`.
    fn repeat<'py>(one: &Bound<'py, PyAny>, count: isize, in_place: bool) -> PyResult<Bound<'py, PyAny>>;
}

/// Fills the slots of a class that another one fills.
pub fn fill<T: Sequence>(class: &Bound<'_, PyType>, like: &Bound<'_, PyType>) {
    let slots = [
        (Slot::sq_concat, concat::<T, false> as *const () as usize),
        (Slot::sq_repeat, repeat::<T, false> as *const () as usize),
        (Slot::sq_inplace_concat, concat::<T, true> as *const () as usize),
        (Slot::sq_inplace_repeat, repeat::<T, true> as *const () as usize),
    ];
    for (which, function) in slots {
        if slot(like, which).is_some() && slot(class, which).is_none() {
            // SAFETY: functions of the signatures that these slots have.
            unsafe { set_slot(class, which, function) };
        }
    }
}

unsafe extern "C" fn concat<T: Sequence, const IN_PLACE: bool>(
    one: *mut ffi::PyObject,
    other: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: a slot function is called attached, with live objects.
    unsafe {
        let py = Python::assume_attached();
        let (one, other) = (Bound::from_borrowed_ptr(py, one), Bound::from_borrowed_ptr(py, other));
        given(py, || T::concat(&one, &other, IN_PLACE))
    }
}

unsafe extern "C" fn repeat<T: Sequence, const IN_PLACE: bool>(
    one: *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
) -> *mut ffi::PyObject {
    // SAFETY: a slot function is called attached, with a live object.
    unsafe {
        let py = Python::assume_attached();
        let one = Bound::from_borrowed_ptr(py, one);
        given(py, || T::repeat(&one, count, IN_PLACE))
    }
}

/// A new reference, or NULL with an exception set.
fn given<'py>(py: Python<'py>, run: impl FnOnce() -> PyResult<Bound<'py, PyAny>>) -> *mut ffi::PyObject {
    let result = catch_unwind(AssertUnwindSafe(run));
    match result.unwrap_or_else(|_| Err(PySystemError::new_err("panic in a slot of slotrt"))) {
        Ok(object) => object.into_ptr(),
        Err(error) => {
            error.restore(py);
            std::ptr::null_mut()
        }
    }
}
