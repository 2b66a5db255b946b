//! The hook that does nothing: what any hook costs at least, to compare with.
use crate::ffi::release::{
    _PyEval_EvalFrameDefault, _PyInterpreterState_GetEvalFrameFunc, _PyInterpreterState_SetEvalFrameFunc, Evaluator,
};
use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::c_int;

/// The hook that does nothing: what any hook costs at least, to measure ours against.
unsafe extern "C" fn empty(state: *mut ffi::PyThreadState, frame: *mut u8, throw: c_int) -> *mut ffi::PyObject {
    // SAFETY: the interpreter's own arguments, passed on.
    unsafe { _PyEval_EvalFrameDefault(state, frame, throw) }
}

/// Installs the empty hook, or takes it out.
pub fn set_empty(_py: Python<'_>, on: bool) -> PyResult<()> {
    // SAFETY: attached.
    let interpreter = unsafe { ffi::PyInterpreterState_Get() };
    // SAFETY: the interpreter is alive.
    let current = unsafe { _PyInterpreterState_GetEvalFrameFunc(interpreter) } as usize;
    let expected: Evaluator = if on { _PyEval_EvalFrameDefault } else { empty };
    if current != expected as usize {
        return Err(PyRuntimeError::new_err("another evaluation hook is installed"));
    }
    // SAFETY: both have the hook's signature.
    unsafe { _PyInterpreterState_SetEvalFrameFunc(interpreter, if on { empty } else { _PyEval_EvalFrameDefault }) };
    Ok(())
}
