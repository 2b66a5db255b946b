//! Interception: while C code runs for a trace, fresh frames of this thread are offered to the tracer.
use super::chain::pass_on;
use super::result::stand_in;
use crate::ffi::frame::Frame;
use crate::ffi::release::{
    _PyEval_EvalFrameDefault, _PyInterpreterState_GetEvalFrameFunc, _PyInterpreterState_SetEvalFrameFunc, Evaluator,
};
use crate::internal_error::InternalError;
use pyo3::ffi;
use pyo3::prelude::*;
use std::cell::Cell;
use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// Runs a frame instead of the interpreter: gives its result, or `None` to let the interpreter run it.
pub type Interceptor = for<'py> fn(Python<'py>, Frame<'_>) -> Option<PyResult<Py<PyAny>>>;

thread_local! {
    /// What this thread's fresh frames are offered to.
    static INTERCEPTOR: Cell<Option<Interceptor>> = const { Cell::new(None) };

    static PASSED_ON: Cell<*mut u8> = const { Cell::new(std::ptr::null_mut()) };
}

/// How many threads intercept, and what evaluated frames before the first did. The interpreter's lock guards both.
static INTERCEPTING: AtomicUsize = AtomicUsize::new(0);

static BEFORE: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());

/// Runs C code; fresh frames that it begins on this thread are offered to `interceptor` first. [`check`] must have passed.
pub fn intercept<T>(_py: Python<'_>, interceptor: Interceptor, run: impl FnOnce() -> T) -> T {
    // SAFETY: attached, so that the interpreter is alive and no other thread changes its evaluator.
    unsafe {
        let interpreter = ffi::PyInterpreterState_Get();
        let previous = _PyInterpreterState_GetEvalFrameFunc(interpreter);
        if INTERCEPTING.fetch_add(1, Ordering::AcqRel) == 0 {
            BEFORE.store(previous as *mut (), Ordering::Release);
            _PyInterpreterState_SetEvalFrameFunc(interpreter, evaluate);
        }
    }
    let outer = INTERCEPTOR.replace(Some(interceptor));
    let result = catch_unwind(AssertUnwindSafe(run));
    INTERCEPTOR.set(outer);
    if INTERCEPTING.fetch_sub(1, Ordering::AcqRel) == 1 {
        // SAFETY: as above; what was stored is an evaluator.
        unsafe {
            let interpreter = ffi::PyInterpreterState_Get();
            if _PyInterpreterState_GetEvalFrameFunc(interpreter) as usize == evaluate as *const () as usize {
                _PyInterpreterState_SetEvalFrameFunc(interpreter, before());
            }
        }
    }
    result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn before() -> Evaluator {
    let before = BEFORE.load(Ordering::Acquire);
    if before.is_null() {
        return _PyEval_EvalFrameDefault;
    }
    // SAFETY: only evaluators are stored.
    unsafe { std::mem::transmute::<*mut (), Evaluator>(before) }
}

unsafe extern "C" fn evaluate(state: *mut ffi::PyThreadState, raw: *mut u8, throw: c_int) -> *mut ffi::PyObject {
    // SAFETY: the interpreter's own arguments.
    let frame = unsafe { Frame::new(state, raw) };
    if let (0, Some(interceptor)) = (throw, INTERCEPTOR.get())
        && frame.is_fresh()
    {
        let intercepted = Python::attach(|py| {
            let result = catch_unwind(AssertUnwindSafe(|| interceptor(py, frame)));
            let result = result.unwrap_or_else(|_| Some(Err(InternalError::new_err("panic in slotrt's tracer"))))?;
            // SAFETY: the frame is fresh, and its evaluator ends here.
            Some(unsafe { stand_in(py, state, raw, result) })
        });
        if let Some(result) = intercepted {
            return result;
        }
    }
    // SAFETY: the interpreter's own arguments, passed on.
    unsafe { pass_on(&PASSED_ON, before(), state, raw, throw) }
}
