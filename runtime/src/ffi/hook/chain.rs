//! The chain of hooks: another hook may be installed over ours or below it, and be taken out in any order.
//!
//! What stands below ours may have ours for what stands below it, where it came, went and came again. So a frame that comes round goes to the
//! interpreter, and one that the hook on top has handed down does not go there again.
use crate::ffi::release::{_PyEval_EvalFrameDefault, _PyInterpreterState_GetEvalFrameFunc, Evaluator};
use pyo3::ffi;
use std::cell::Cell;
use std::ffi::c_int;
use std::thread::LocalKey;

/// The frame that one of our evaluators has passed on last on this thread, and that has not ended.
pub(super) type PassedOn = LocalKey<Cell<*mut u8>>;

/// Has the frame evaluated by what stands below.
///
/// # Safety
/// As for an evaluator; `below` must be one.
pub(super) unsafe fn pass_on(
    passed_on: &'static PassedOn,
    below: Evaluator,
    state: *mut ffi::PyThreadState,
    raw: *mut u8,
    throw: c_int,
) -> *mut ffi::PyObject {
    let plain = _PyEval_EvalFrameDefault as *const () as usize;
    if below as usize == plain {
        // SAFETY: as the caller promises.
        return unsafe { below(state, raw, throw) };
    }
    let outer = passed_on.get();
    // SAFETY: an evaluator is called by the attached thread.
    let top = unsafe { _PyInterpreterState_GetEvalFrameFunc(ffi::PyInterpreterState_Get()) } as usize;
    if outer == raw || top == below as usize {
        // SAFETY: as the caller promises.
        return unsafe { _PyEval_EvalFrameDefault(state, raw, throw) };
    }
    passed_on.set(raw);
    // SAFETY: as the caller promises.
    let result = unsafe { below(state, raw, throw) };
    passed_on.set(outer);
    result
}
