//! What differs between releases in CPython's memory and calls: one file for each, with the same names in it.
#[cfg(not(Py_3_13))]
mod handed;
mod unseen;
#[cfg(not(Py_3_12))]
mod v3_11;
#[cfg(all(Py_3_12, not(Py_3_13)))]
mod v3_12;
#[cfg(Py_3_13)]
mod v3_13;
#[cfg(not(Py_3_13))]
mod waiting;

#[cfg(not(Py_3_12))]
pub(crate) use v3_11::*;
#[cfg(all(Py_3_12, not(Py_3_13)))]
pub(crate) use v3_12::*;
#[cfg(Py_3_13)]
pub(crate) use v3_13::*;

pub(super) use unseen::call_unseen;

use pyo3::ffi;
use std::ffi::c_int;

/// `_PyFrameEvalFunction`.
pub(super) type Evaluator = unsafe extern "C" fn(*mut ffi::PyThreadState, *mut u8, c_int) -> *mut ffi::PyObject;

unsafe extern "C" {
    pub(super) fn _PyInterpreterState_GetEvalFrameFunc(interpreter: *mut ffi::PyInterpreterState) -> Evaluator;
    pub(super) fn _PyInterpreterState_SetEvalFrameFunc(interpreter: *mut ffi::PyInterpreterState, evaluator: Evaluator);
    pub(super) fn _PyEval_EvalFrameDefault(
        state: *mut ffi::PyThreadState,
        frame: *mut u8,
        throw: c_int,
    ) -> *mut ffi::PyObject;
}
