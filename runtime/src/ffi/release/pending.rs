//! What the evaluator must handle soon, up to 3.12: signals of the process, pending calls, exceptions set by other threads.
use crate::ffi::raw;
use crate::names::name;
#[cfg(not(Py_3_12))]
use generated::layouts::v3_11 as layouts;
#[cfg(Py_3_12)]
use generated::layouts::v3_12 as layouts;
use layouts::{_PyRuntimeState, _ceval_runtime_state, _ceval_state, _pending_calls, PyInterpreterState, PyThreadState};
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::c_int;
use std::mem::offset_of;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

unsafe extern "C" {
    static _PyRuntime: u8;
    fn _PyOS_IsMainThread() -> c_int;
}

const CEVAL: usize = offset_of!(PyInterpreterState, ceval);
const SIGNALS: usize = offset_of!(_PyRuntimeState, ceval) + offset_of!(_ceval_runtime_state, signals_pending);
const CALLS: usize = offset_of!(_pending_calls, calls_to_do);
/// `gil_drop_request`, too, is one of the things behind `eval_breaker`, and from 3.12 on a collection that is due.
const BREAKER: usize = CEVAL + offset_of!(_ceval_state, eval_breaker);

fn runtime() -> *const u8 {
    &raw const _PyRuntime
}

/// Reads an integer that signal handlers and other threads change.
///
/// # Safety
/// `base + offset` must be one, in a live structure.
unsafe fn flag(base: *const u8, offset: usize) -> bool {
    // SAFETY: as the caller promises; integers of C are aligned.
    unsafe { AtomicI32::from_ptr(base.add(offset).cast::<i32>().cast_mut()).load(Relaxed) != 0 }
}

/// Whether a signal, a pending call or an exception from another thread is what this thread handles where it next looks.
/// `main_calls`: where the process keeps the pending calls that only the main thread makes.
#[must_use]
pub fn is_pending(_py: Python<'_>, main_calls: Option<usize>) -> bool {
    // SAFETY: attached, so that thread and interpreter are live; the process's state always is; the layouts are those of the
    // interpreter, which `check` has seen.
    unsafe {
        let thread = ffi::PyThreadState_Get().cast::<u8>();
        let interpreter: *const u8 = raw::read(thread, offset_of!(PyThreadState, interp));
        if !flag(interpreter, BREAKER) {
            return false;
        }
        let thrown: *const u8 = raw::read(thread, offset_of!(PyThreadState, async_exc));
        let calls = flag(interpreter, CEVAL + offset_of!(_ceval_state, pending) + CALLS);
        let signals = || flag(runtime(), SIGNALS) || main_calls.is_some_and(|at| flag(runtime(), at + CALLS));
        !thrown.is_null() || calls || _PyOS_IsMainThread() != 0 && signals()
    }
}

/// The field of the interpreter's state that is elsewhere in this interpreter.
///
/// # Errors
/// Those of `sys.getrecursionlimit()`.
pub fn check(py: Python<'_>) -> PyResult<Option<&'static str>> {
    let limit: c_int = crate::ffi::modules::import(py, "sys")?.call_method0(name!("getrecursionlimit"))?.extract()?;
    // SAFETY: attached; the fields lie inside the interpreter's state, which is much larger.
    unsafe {
        let interpreter = ffi::PyInterpreterState_Get().cast::<u8>();
        let process: *const u8 = raw::read(interpreter, offset_of!(PyInterpreterState, runtime));
        let known: c_int = raw::read(interpreter, CEVAL + offset_of!(_ceval_state, recursion_limit));
        let known = (known != limit).then_some("_ceval_state.recursion_limit");
        Ok((process != runtime()).then_some("PyInterpreterState.runtime").or(known))
    }
}
