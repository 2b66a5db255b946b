//! The evaluation hook (PEP 523): installed only while something needs it.
use super::callable::InternalError;
use super::frame::{Declined, Frame};
use super::layout;
use super::release::{
    self, _PyEval_EvalFrameDefault, _PyInterpreterState_GetEvalFrameFunc, _PyInterpreterState_SetEvalFrameFunc,
    Evaluator,
};
use super::takeover::{self, CallSites};
use pyo3::exceptions::{PyImportError, PyRuntimeError};
use pyo3::ffi;
use pyo3::prelude::*;
use std::cell::Cell;
use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicPtr, AtomicUsize, Ordering};

/// What to do with a frame.
#[derive(Debug)]
pub enum Action {
    /// Run it as it is.
    Run,
    /// Run this code object in it: same arguments, same function.
    Replace(Py<PyAny>),
    /// Do not run it: call this function with the frame's parameters, all positional, and follow hand-overs.
    Call(Py<PyAny>),
    /// Do not run it: this is its result.
    Done(Py<PyAny>),
}

/// Decides about frames.
pub trait FrameHandler: Send + Sync {
    /// Whether [`FrameHandler::enter`] is to be asked; called for every frame, must be quick and touch no Python object.
    fn observe(&self, frame: Frame<'_>) -> bool;

    /// Decides about a fresh frame. Frames that run meanwhile on this thread are left alone.
    fn enter(&self, py: Python<'_>, frame: Frame<'_>) -> PyResult<Action>;

    /// Learns that a replacement could not be done; the frame runs as it is.
    fn declined(&self, reason: Declined);
}

struct Installed {
    handler: Box<dyn FrameHandler>,
    previous: Evaluator,
    interpreter: usize,
    active: AtomicBool,
    sites: CallSites,
}

/// The hook's function takes no data: this is it. Installed once per interpreter; the interpreters that this module can be
/// imported into are one.
static INSTALLED: AtomicPtr<Installed> = AtomicPtr::new(std::ptr::null_mut());

thread_local! {
    /// Whether this thread is inside a handler.
    static BUSY: Cell<bool> = const { Cell::new(false) };
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
    let made = Box::new(Installed {
        handler,
        previous,
        interpreter: interpreter as usize,
        active: AtomicBool::new(true),
        sites: CallSites::default(),
    });
    // The old one, if any, stays allocated: frames that run on other threads may still look at it.
    INSTALLED.store(Box::into_raw(made), Ordering::Release);
    // SAFETY: the function has the hook's signature for this release, and its data is in place.
    unsafe { _PyInterpreterState_SetEvalFrameFunc(interpreter, evaluate) };
    Ok(())
}

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

/// Takes the hook out again; frames that run now finish under it.
pub fn uninstall(_py: Python<'_>) -> PyResult<()> {
    // SAFETY: attached.
    let interpreter = unsafe { ffi::PyInterpreterState_Get() };
    // SAFETY: the interpreter is alive.
    let current = unsafe { _PyInterpreterState_GetEvalFrameFunc(interpreter) };
    // SAFETY: never freed once stored.
    let installed = unsafe { INSTALLED.load(Ordering::Acquire).as_ref() };
    let ours = |found: &&Installed| found.interpreter == interpreter as usize && found.active.load(Ordering::Acquire);
    match installed.filter(ours) {
        Some(installed) if current as usize == evaluate as *const () as usize => {
            // SAFETY: the evaluator that was there before us.
            unsafe { _PyInterpreterState_SetEvalFrameFunc(interpreter, installed.previous) };
            installed.active.store(false, Ordering::Release);
            Ok(())
        }
        Some(_) => {
            Err(PyRuntimeError::new_err("another evaluation hook was installed after slotrt's; remove that first"))
        }
        None => Err(PyRuntimeError::new_err("slotrt's evaluation hook is not installed")),
    }
}

/// Whether the hook is in.
#[must_use]
pub fn is_installed(_py: Python<'_>) -> bool {
    // SAFETY: attached, the interpreter is alive.
    let current = unsafe { _PyInterpreterState_GetEvalFrameFunc(ffi::PyInterpreterState_Get()) };
    current as usize == evaluate as *const () as usize
}

/// What stands in for a frame: its result, or `None` to run it.
pub type Answer = for<'py> fn(Python<'py>, Frame<'_>) -> Option<PyResult<Py<PyAny>>>;

thread_local! {
    /// Who is asked about this thread's fresh frames.
    static ASKED: Cell<Option<Answer>> = const { Cell::new(None) };
}

/// How many threads ask, and what evaluated frames before the first did. The interpreter's lock guards both.
static ASKING: AtomicUsize = AtomicUsize::new(0);
static BEFORE: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());

/// Runs C code; fresh frames that it begins on this thread are offered to `answer` first. [`check`] must have passed.
pub fn intercept<T>(_py: Python<'_>, answer: Answer, run: impl FnOnce() -> T) -> T {
    // SAFETY: attached, so that the interpreter is alive and no other thread changes its evaluator.
    unsafe {
        let interpreter = ffi::PyInterpreterState_Get();
        let previous = _PyInterpreterState_GetEvalFrameFunc(interpreter);
        if ASKING.fetch_add(1, Ordering::AcqRel) == 0 {
            BEFORE.store(previous as *mut (), Ordering::Release);
            _PyInterpreterState_SetEvalFrameFunc(interpreter, ask);
        }
    }
    let outer = ASKED.replace(Some(answer));
    let result = catch_unwind(AssertUnwindSafe(run));
    ASKED.set(outer);
    if ASKING.fetch_sub(1, Ordering::AcqRel) == 1 {
        // SAFETY: as above; what was stored is an evaluator.
        unsafe {
            let interpreter = ffi::PyInterpreterState_Get();
            if _PyInterpreterState_GetEvalFrameFunc(interpreter) as usize == ask as *const () as usize {
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

unsafe extern "C" fn ask(state: *mut ffi::PyThreadState, raw: *mut u8, throw: c_int) -> *mut ffi::PyObject {
    // SAFETY: the interpreter's own arguments.
    let frame = unsafe { Frame::new(state, raw) };
    if let (0, Some(answer)) = (throw, ASKED.get())
        && frame.is_fresh()
    {
        let answered = Python::attach(|py| {
            let asked = catch_unwind(AssertUnwindSafe(|| answer(py, frame)));
            let asked = asked.unwrap_or_else(|_| Some(Err(InternalError::new_err("panic in slotrt's tracer"))))?;
            // SAFETY: the frame is fresh, and its evaluator ends here.
            Some(unsafe { stand_in(py, state, raw, asked) })
        });
        if let Some(result) = answered {
            return result;
        }
    }
    // SAFETY: the interpreter's own arguments, passed on.
    unsafe { before()(state, raw, throw) }
}

unsafe extern "C" fn evaluate(state: *mut ffi::PyThreadState, raw: *mut u8, throw: c_int) -> *mut ffi::PyObject {
    // SAFETY: stored before the hook went in, and never freed.
    let installed = unsafe { &*INSTALLED.load(Ordering::Acquire) };
    // SAFETY: the interpreter's own arguments.
    let frame = unsafe { Frame::new(state, raw) };
    let fresh = throw == 0 && frame.is_fresh();
    if fresh {
        takeover::take_over(&installed.sites, frame);
    }
    if throw == 0 && installed.handler.observe(frame) && fresh && !BUSY.get() && !super::stack::is_low() {
        // SAFETY: as above.
        if let Some(result) = unsafe { decide(installed, state, frame) } {
            return result;
        }
    }
    // SAFETY: the interpreter's own arguments, passed on.
    unsafe { (installed.previous)(state, raw, throw) }
}

/// Evaluates a frame whose code may hand over, and its continuations.
///
/// # Safety
/// As for an evaluator.
unsafe fn run_replaced(
    py: Python<'_>,
    installed: &Installed,
    state: *mut ffi::PyThreadState,
    raw: *mut u8,
) -> *mut ffi::PyObject {
    // SAFETY: as the caller promises; the result is new, or NULL with an exception set.
    let result = unsafe { Bound::from_owned_ptr_or_opt(py, (installed.previous)(state, raw, 0)) };
    let Some(result) = result else { return std::ptr::null_mut() };
    given(py, super::callable::follow(result).map(Bound::unbind))
}

/// Ends a fresh frame, with this result.
///
/// # Safety
/// As for an evaluator, which returns next.
unsafe fn stand_in(
    py: Python<'_>,
    state: *mut ffi::PyThreadState,
    raw: *mut u8,
    result: PyResult<Py<PyAny>>,
) -> *mut ffi::PyObject {
    // SAFETY: as the caller promises; what the frame's end sets off finds no exception set.
    unsafe { release::finish(state, raw) };
    given(py, result)
}

/// A result as an evaluator gives it.
fn given(py: Python<'_>, result: PyResult<Py<PyAny>>) -> *mut ffi::PyObject {
    result.map_or_else(
        |error| {
            error.restore(py);
            std::ptr::null_mut()
        },
        Py::into_ptr,
    )
}

/// Asks the handler; a result means that the frame is done and gone.
///
/// # Safety
/// The frame must be fresh and belong to the attached thread.
unsafe fn decide(
    installed: &Installed,
    state: *mut ffi::PyThreadState,
    frame: Frame<'_>,
) -> Option<*mut ffi::PyObject> {
    Python::attach(|py| {
        BUSY.set(true);
        let asked = catch_unwind(AssertUnwindSafe(|| installed.handler.enter(py, frame)));
        BUSY.set(false);
        let asked = asked.unwrap_or_else(|_| Err(InternalError::new_err("panic in slotrt's frame handler")));
        let result = match asked {
            Ok(Action::Run) => return None,
            Ok(Action::Replace(code)) => {
                if let Err(reason) = frame.replace(code.bind(py)) {
                    installed.handler.declined(reason);
                    return None;
                }
                // SAFETY: the interpreter's own arguments, passed on; the evaluator clears the frame.
                return Some(unsafe { run_replaced(py, installed, state, frame.raw) });
            }
            Ok(Action::Call(function)) => {
                frame.call(function.bind(py)).and_then(super::callable::follow).map(Bound::unbind)
            }
            Ok(Action::Done(result)) => Ok(result),
            Err(error) => Err(error),
        };
        // SAFETY: as the caller promises; its evaluator ends here.
        Some(unsafe { stand_in(py, state, frame.raw, result) })
    })
}
