//! The door through which every call comes in: process, thread, interpreter and handle are checked before anything is done.
use super::error::{Failure, Outcome, remember};
use super::runtime::{self, Runtime};
use super::status::slotrt_status::{self, *};
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

unsafe extern "C" {
    /// The state of the thread that runs; NULL without one. From 3.12 on of this thread, before of the one that holds the GIL.
    #[cfg_attr(Py_3_13, link_name = "PyThreadState_GetUnchecked")]
    #[cfg_attr(not(Py_3_13), link_name = "_PyThreadState_UncheckedGet")]
    fn current_thread_state() -> *mut ffi::PyThreadState;

    #[cfg_attr(Py_3_13, link_name = "Py_IsFinalizing")]
    #[cfg_attr(not(Py_3_13), link_name = "_Py_IsFinalizing")]
    fn is_finalising() -> c_int;
}

/// The interpreter that the thread runs in.
pub(super) fn interpreter() -> Outcome<i64> {
    // SAFETY: both may be called at any time.
    if unsafe { ffi::Py_IsInitialized() } == 0 || unsafe { is_finalising() } != 0 {
        return Err(Failure::new(SLOTRT_NO_INTERPRETER, "no interpreter is running, or it is being finalised"));
    }
    // SAFETY: both may be called by any thread once the interpreter is initialised; the first answers for 3.12 and later, where the second
    // is always right once there is a second interpreter.
    if unsafe { current_thread_state().is_null() || ffi::PyGILState_Check() == 0 } {
        return Err(Failure::new(SLOTRT_NO_GIL, "the thread does not hold the GIL: call PyGILState_Ensure first"));
    }
    // SAFETY: the thread is attached.
    Ok(unsafe { ffi::PyInterpreterState_GetID(ffi::PyInterpreterState_Get()) })
}

/// Does the work of a call that needs no runtime yet.
pub(super) fn enter(work: impl FnOnce(Python<'_>, i64) -> Outcome<()>) -> slotrt_status {
    let done = catch_unwind(AssertUnwindSafe(|| {
        let interpreter = interpreter()?;
        Python::attach(|py| {
            // An exception that the caller handles stays set.
            let pending = PyErr::take(py);
            let done = work(py, interpreter);
            if let Some(pending) = pending {
                pending.restore(py);
            }
            done
        })
    }));
    match done {
        Ok(Ok(())) => SLOTRT_OK,
        Ok(Err(failure)) => {
            remember(&failure.text);
            failure.status
        }
        Err(_) => {
            remember("a panic in slotrt");
            SLOTRT_INTERNAL
        }
    }
}

/// Does the work of a call for a runtime.
pub(super) fn with(handle: u64, work: impl FnOnce(Python<'_>, &Arc<Runtime>) -> Outcome<()>) -> slotrt_status {
    enter(|py, interpreter| {
        let runtime = runtime::of(handle)?;
        if runtime.interpreter != interpreter {
            let text = "the runtime was opened in another interpreter of this process";
            return Err(Failure::new(SLOTRT_OTHER_INTERPRETER, text));
        }
        work(py, &runtime)
    })
}

/// An object that the caller passes.
///
/// # Safety
/// `object` is NULL or a live object, borrowed for the call.
pub(super) unsafe fn object<'py>(
    py: Python<'py>,
    object: *mut ffi::PyObject,
    name: &str,
) -> Outcome<Bound<'py, PyAny>> {
    // SAFETY: as above.
    unsafe { Bound::from_borrowed_ptr_or_opt(py, object) }.ok_or_else(|| Failure::null(name))
}

/// Fills in an answer.
///
/// # Safety
/// `out` is NULL or points to memory for a `T`.
pub(super) unsafe fn fill<T>(out: *mut T, name: &str, value: impl FnOnce() -> Outcome<T>) -> Outcome<()> {
    if out.is_null() {
        return Err(Failure::null(name));
    }
    let value = value()?;
    // SAFETY: it is not NULL, so the caller vouches for it.
    unsafe { out.write(value) };
    Ok(())
}
