//! Calls of our own functions, whose frames no hook sees.
use super::evaluator::{
    _PyEval_EvalFrameDefault, _PyInterpreterState_GetEvalFrameFunc, _PyInterpreterState_SetEvalFrameFunc, Evaluator,
};
use pyo3::ffi;
use std::cell::Cell;
use std::ffi::c_int;

thread_local! {
    /// The evaluator that is in again once the next frame has begun.
    static UNHOOKED: Cell<Option<Evaluator>> = const { Cell::new(None) };
}

/// Calls a function whose own frame no hook sees; frames that it begins are seen as ever.
///
/// # Safety
/// `function` must be a Python function with as many positional parameters as there are values; all are live.
pub unsafe fn call_unhooked(function: *mut ffi::PyObject, values: &[*mut ffi::PyObject]) -> *mut ffi::PyObject {
    // SAFETY: as the caller promises; the arguments fill all parameters: nothing runs before the frame is evaluated.
    unsafe {
        let interpreter = ffi::PyInterpreterState_Get();
        let previous = _PyInterpreterState_GetEvalFrameFunc(interpreter);
        UNHOOKED.set(Some(previous));
        _PyInterpreterState_SetEvalFrameFunc(interpreter, begin_unhooked);
        let result = ffi::PyObject_Vectorcall(function, values.as_ptr(), values.len(), std::ptr::null_mut());
        if UNHOOKED.take().is_some() {
            _PyInterpreterState_SetEvalFrameFunc(interpreter, previous);
        }
        result
    }
}

unsafe extern "C" fn begin_unhooked(
    state: *mut ffi::PyThreadState,
    frame: *mut u8,
    throw: c_int,
) -> *mut ffi::PyObject {
    // SAFETY: the interpreter's own arguments, passed on; the evaluator before is put back first.
    unsafe {
        if let Some(previous) = UNHOOKED.take() {
            _PyInterpreterState_SetEvalFrameFunc(ffi::PyInterpreterState_Get(), previous);
        }
        _PyEval_EvalFrameDefault(state, frame, throw)
    }
}
