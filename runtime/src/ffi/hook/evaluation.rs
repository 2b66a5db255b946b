//! The evaluation hook (PEP 523): installed only while something needs it.
use super::argument_transfer::{self, CallSites};
use super::chain::pass_on;
use super::handler::{Action, FrameHandler};
use super::result::{given, stand_in};
use crate::ffi::frame::Frame;
use crate::ffi::release::{
    self, _PyInterpreterState_GetEvalFrameFunc, _PyInterpreterState_SetEvalFrameFunc, Evaluator,
};
use crate::ffi::{callable, layout, native_stack, other_compiler};
use crate::internal_error::InternalError;
use pyo3::exceptions::{PyImportError, PyRuntimeError};
use pyo3::ffi;
use pyo3::prelude::*;
use std::cell::Cell;
use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicPtr, Ordering};

struct Installation {
    handler: Box<dyn FrameHandler>,
    previous: Evaluator,
    interpreter: usize,
    active: AtomicBool,
    sites: CallSites,
}

/// The hook's function takes no data: this is it. Installed once per interpreter; the interpreters that this module can be
/// imported into are one.
static INSTALLED: AtomicPtr<Installation> = AtomicPtr::new(std::ptr::null_mut());

thread_local! {
    /// Whether this thread is inside a handler.
    static BUSY: Cell<bool> = const { Cell::new(false) };

    static PASSED_ON: Cell<*mut u8> = const { Cell::new(std::ptr::null_mut()) };
}

/// Refuses an interpreter whose frames are laid out otherwise than the generated tables say, and one that is not the first
/// in the process to ask: what is kept here is one interpreter's.
pub fn check(py: Python<'_>) -> PyResult<()> {
    static FIRST: AtomicI64 = AtomicI64::new(-1);
    // SAFETY: attached.
    let this = unsafe { ffi::PyInterpreterState_GetID(ffi::PyInterpreterState_Get()) };
    let first = FIRST.compare_exchange(-1, this, Ordering::AcqRel, Ordering::Acquire);
    if first.is_err_and(|first| first != this) {
        return Err(PyImportError::new_err(
            "slotrt serves one interpreter of a process, and another one has it already",
        ));
    }
    layout::check(py)?;
    release::prepare(py)
}

/// Installs the hook with its handler.
pub fn install(py: Python<'_>, handler: Box<dyn FrameHandler>) -> PyResult<()> {
    check(py)?;
    // SAFETY: attached.
    let interpreter = unsafe { ffi::PyInterpreterState_Get() };
    // SAFETY: the interpreter is alive.
    let previous = unsafe { _PyInterpreterState_GetEvalFrameFunc(interpreter) };
    if previous as usize == evaluate as *const () as usize {
        return Err(PyRuntimeError::new_err("slotrt's evaluation hook is installed already"));
    }
    let made = Box::new(Installation {
        handler,
        previous,
        interpreter: interpreter as usize,
        active: AtomicBool::new(true),
        sites: CallSites::default(),
    });
    // The old one, if any, stays allocated: frames that run on other threads may still look at it.
    INSTALLED.store(Box::into_raw(made), Ordering::Release);
    other_compiler::note(evaluate, previous);
    // SAFETY: the function has the hook's signature for this release, and its data is in place.
    unsafe { _PyInterpreterState_SetEvalFrameFunc(interpreter, evaluate) };
    Ok(())
}

/// Takes the hook out again; frames that run now finish under it.
pub fn uninstall(py: Python<'_>) -> PyResult<()> {
    // SAFETY: attached.
    let interpreter = unsafe { ffi::PyInterpreterState_Get() };
    // SAFETY: the interpreter is alive.
    let current = unsafe { _PyInterpreterState_GetEvalFrameFunc(interpreter) };
    // SAFETY: never freed once stored.
    let installed = unsafe { INSTALLED.load(Ordering::Acquire).as_ref() };
    let ours =
        |found: &&Installation| found.interpreter == interpreter as usize && found.active.load(Ordering::Acquire);
    match installed.filter(ours) {
        Some(installed) if current as usize == evaluate as *const () as usize => {
            // SAFETY: the evaluator that was there before us.
            unsafe { _PyInterpreterState_SetEvalFrameFunc(interpreter, installed.previous) };
            forget(py);
            Ok(())
        }
        Some(_) => {
            Err(PyRuntimeError::new_err("another evaluation hook was installed after slotrt's; remove that first"))
        }
        None => Err(PyRuntimeError::new_err("slotrt's evaluation hook is not installed")),
    }
}

/// The hook is not wanted any longer. Where another one has been installed over it, it stays, and passes all frames on.
pub fn forget(_py: Python<'_>) {
    other_compiler::forget();
    // SAFETY: never freed once stored.
    if let Some(installed) = unsafe { INSTALLED.load(Ordering::Acquire).as_ref() } {
        installed.active.store(false, Ordering::Release);
    }
}

/// Whether the hook is in.
#[must_use]
pub fn is_installed(_py: Python<'_>) -> bool {
    // SAFETY: attached, the interpreter is alive.
    let current = unsafe { _PyInterpreterState_GetEvalFrameFunc(ffi::PyInterpreterState_Get()) };
    current as usize == evaluate as *const () as usize
}

unsafe extern "C" fn evaluate(state: *mut ffi::PyThreadState, raw: *mut u8, throw: c_int) -> *mut ffi::PyObject {
    // SAFETY: stored before the hook went in, and never freed.
    let installed = unsafe { &*INSTALLED.load(Ordering::Acquire) };
    // SAFETY: the interpreter's own arguments.
    let frame = unsafe { Frame::new(state, raw) };
    let fresh = throw == 0 && frame.is_fresh();
    if fresh {
        argument_transfer::drop_arguments(&installed.sites, frame);
    }
    if throw == 0
        && installed.active.load(Ordering::Relaxed)
        && installed.handler.observe(frame)
        && fresh
        && !BUSY.get()
        && !native_stack::is_low()
    {
        // SAFETY: as above.
        if let Some(result) = unsafe { decide(installed, state, frame) } {
            return result;
        }
    }
    // SAFETY: the interpreter's own arguments, passed on.
    unsafe { pass_on(&PASSED_ON, installed.previous, state, raw, throw) }
}

/// Evaluates a frame whose code may end with a transfer, and its continuations.
///
/// # Safety
/// As for an evaluator.
unsafe fn run_replaced(
    py: Python<'_>,
    installed: &Installation,
    state: *mut ffi::PyThreadState,
    raw: *mut u8,
) -> *mut ffi::PyObject {
    // SAFETY: as the caller promises; the result is new, or NULL with an exception set.
    let result = unsafe { Bound::from_owned_ptr_or_err(py, pass_on(&PASSED_ON, installed.previous, state, raw, 0)) };
    given(py, result.and_then(callable::follow).map(Bound::unbind))
}

/// Asks the handler; a result means that the frame is done and gone.
///
/// # Safety
/// The frame must be fresh and belong to the attached thread.
unsafe fn decide(
    installed: &Installation,
    state: *mut ffi::PyThreadState,
    frame: Frame<'_>,
) -> Option<*mut ffi::PyObject> {
    Python::attach(|py| {
        BUSY.set(true);
        let action = catch_unwind(AssertUnwindSafe(|| installed.handler.enter(py, frame)));
        BUSY.set(false);
        let action = action.unwrap_or_else(|_| Err(InternalError::new_err("panic in slotrt's frame handler")));
        let result = match action {
            Ok(Action::Run) => return None,
            Ok(Action::Natively) => {
                // SAFETY: the interpreter's own arguments, passed on.
                return Some(callable::natively(|| unsafe {
                    pass_on(&PASSED_ON, installed.previous, state, frame.raw, 0)
                }));
            }
            Ok(Action::Replace(code)) => {
                if let Err(reason) = frame.replace(code.bind(py)) {
                    installed.handler.declined(reason);
                    return None;
                }
                // SAFETY: the interpreter's own arguments, passed on; the evaluator clears the frame.
                return Some(unsafe { run_replaced(py, installed, state, frame.raw) });
            }
            Ok(Action::Call(function)) => frame.call(function.bind(py)).and_then(callable::follow).map(Bound::unbind),
            Ok(Action::Enter(function)) => {
                callable::as_compiled(py, || frame.call(function.bind(py))).map(Bound::unbind)
            }
            Ok(Action::Done(result)) => Ok(result),
            Err(error) => Err(error),
        };
        // SAFETY: as the caller promises; its evaluator ends here.
        Some(unsafe { stand_in(py, state, frame.raw, result) })
    })
}
