//! The interpreter's evaluator of frames (PEP 523), and what sets it.
use pyo3::ffi;
use std::ffi::c_int;

/// `_PyFrameEvalFunction`.
pub(in crate::ffi) type Evaluator = unsafe extern "C" fn(*mut ffi::PyThreadState, *mut u8, c_int) -> *mut ffi::PyObject;

unsafe extern "C" {
    pub(in crate::ffi) fn _PyInterpreterState_GetEvalFrameFunc(interpreter: *mut ffi::PyInterpreterState) -> Evaluator;
    pub(in crate::ffi) fn _PyInterpreterState_SetEvalFrameFunc(
        interpreter: *mut ffi::PyInterpreterState,
        evaluator: Evaluator,
    );
    pub(in crate::ffi) fn _PyEval_EvalFrameDefault(
        state: *mut ffi::PyThreadState,
        frame: *mut u8,
        throw: c_int,
    ) -> *mut ffi::PyObject;
}
