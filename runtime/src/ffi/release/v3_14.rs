//! CPython 3.14 and 3.15: slots of frames hold tagged references; the evaluator clears the frame that it is given, and functions for that are exported.
use super::evaluator::Evaluator;
use super::reference::Reference;
use crate::ffi::raw;
#[cfg(not(Py_3_15))]
use generated::layouts::v3_14 as layouts;
#[cfg(Py_3_15)]
use generated::layouts::v3_15 as layouts;
use pyo3::ffi;
use pyo3::prelude::*;
use smallvec::SmallVec;
use std::ffi::c_int;
use std::mem::offset_of;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

pub use layouts::{_PyInterpreterFrame, PyCodeObject, PyFrameObject, PyThreadState};

/// Of a frame: its code object.
pub const F_CODE: usize = offset_of!(_PyInterpreterFrame, f_executable);
/// Of a frame: its function.
pub const F_FUNC: usize = offset_of!(_PyInterpreterFrame, f_funcobj);
/// Of a frame: where it is in its code.
pub const INSTR: usize = offset_of!(_PyInterpreterFrame, instr_ptr);
/// Of a thread: how many more calls its limit of recursion leaves.
pub const CALLS_LEFT: usize = offset_of!(PyThreadState, py_recursion_remaining);
/// What [`INSTR`] holds before the first instruction, in bytes from the code's first.
pub const FRESH: isize = 0;

unsafe extern "C" {
    fn _PyEval_FrameClearAndPop(state: *mut ffi::PyThreadState, frame: *mut u8);
    fn _PyEvalFramePushAndInit(
        state: *mut ffi::PyThreadState,
        function: Reference,
        locals: *mut ffi::PyObject,
        args: *const Reference,
        count: usize,
        kwnames: *mut ffi::PyObject,
        previous: *mut u8,
    ) -> *mut u8;
    fn PyUnstable_Type_AssignVersionTag(class: *mut ffi::PyTypeObject) -> c_int;
}

/// The frame that the thread runs; NULL where it runs none.
///
/// # Safety
/// `state` must be a live thread state.
pub unsafe fn current_frame(state: *mut u8) -> *mut u8 {
    // SAFETY: as the caller promises.
    unsafe { raw::read(state, offset_of!(PyThreadState, current_frame)) }
}

/// The thread runs another frame, or none.
///
/// # Safety
/// `state` must be the running thread's; `frame` NULL, or a frame that runs on it.
pub unsafe fn set_current_frame(state: *mut u8, frame: *mut u8) {
    // SAFETY: as the caller promises.
    unsafe { raw::write(state, offset_of!(PyThreadState, current_frame), frame) }
}

/// `_PY_SIGNALS_PENDING_BIT`, `_PY_CALLS_TO_DO_BIT`, `_PY_ASYNC_EXCEPTION_BIT`.
const PENDING: usize = 1 << 1 | 1 << 2 | 1 << 3;

/// `_PY_EVAL_EVENTS_BITS`: below them stands what waits, above them how often events of `sys.monitoring` were set.
const EVENTS_BITS: u32 = 8;

/// The thread's `eval_breaker`.
fn breaker(_py: Python<'_>) -> usize {
    // SAFETY: attached, so that the thread is live; its word, which other threads change, is aligned.
    unsafe {
        let thread = ffi::PyThreadState_Get().cast::<u8>();
        AtomicUsize::from_ptr(thread.add(offset_of!(PyThreadState, eval_breaker)).cast()).load(Relaxed)
    }
}

/// Whether a signal, a pending call or an exception from another thread is what this thread handles where it next looks.
#[must_use]
pub fn is_pending(py: Python<'_>) -> bool {
    breaker(py) & PENDING != 0
}

/// Another number each time that tools of `sys.monitoring` set events for all code; 0 where none ever did.
#[must_use]
pub fn monitoring_version(py: Python<'_>) -> usize {
    breaker(py) >> EVENTS_BITS
}

/// The field of the thread's state that is elsewhere in this interpreter.
///
/// # Errors
/// None here.
pub fn check_pending(_py: Python<'_>) -> PyResult<Option<&'static str>> {
    // SAFETY: attached, so that the thread is live; the field lies inside it.
    unsafe {
        let known: *mut ffi::PyInterpreterState =
            raw::read(ffi::PyThreadState_Get().cast(), offset_of!(PyThreadState, interp));
        Ok((known != ffi::PyInterpreterState_Get()).then_some("PyThreadState.interp"))
    }
}

/// Whether monitoring has changed the code: its instructions look at what they hold after a call, too.
///
/// # Safety
/// `code` must be a code object.
pub unsafe fn is_monitored(code: *mut ffi::PyObject) -> bool {
    // SAFETY: as the caller promises.
    unsafe { !raw::read::<*mut u8>(code.cast(), offset_of!(PyCodeObject, _co_monitoring)).is_null() }
}

/// The receiver of a method stays the caller's for as long as the call lasts: its slot must not be changed.
pub const KEEPS_RECEIVER: bool = true;

/// The stack of a frame is empty above this many slots.
///
/// # Safety
/// `frame` must be a live frame whose code has that many slots.
pub unsafe fn set_stack(frame: *mut u8, slots: c_int) {
    // SAFETY: as the caller promises.
    unsafe {
        let first = frame.add(offset_of!(_PyInterpreterFrame, localsplus)).cast::<Reference>();
        raw::write(frame, offset_of!(_PyInterpreterFrame, stackpointer), first.offset(slots as isize));
    }
}

/// How many slots of a frame are in use.
///
/// # Safety
/// `frame` must be a live frame.
pub unsafe fn stack_end(frame: *mut u8) -> c_int {
    // SAFETY: as the caller promises; the pointer lies behind the first slot, or is NULL while the frame's instructions run.
    unsafe {
        let end: usize = raw::read(frame, offset_of!(_PyInterpreterFrame, stackpointer));
        let first = frame as usize + offset_of!(_PyInterpreterFrame, localsplus);
        end.checked_sub(first).map_or(0, |bytes| (bytes / size_of::<Reference>()) as c_int)
    }
}

/// Words that a frame of this code takes.
///
/// # Safety
/// `code` must be a code object.
pub unsafe fn frame_size(code: *mut ffi::PyObject) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { raw::read(code.cast(), offset_of!(PyCodeObject, co_framesize)) }
}

/// Makes ready what [`finish`] needs.
///
/// # Errors
/// None here.
pub fn prepare(_py: Python<'_>) -> PyResult<()> {
    Ok(())
}

/// Ends a fresh frame as its evaluator would.
///
/// # Safety
/// Both must be what the interpreter handed to an evaluator, which returns next.
pub unsafe fn finish(state: *mut ffi::PyThreadState, frame: *mut u8) {
    // SAFETY: as the caller promises.
    unsafe { _PyEval_FrameClearAndPop(state, frame) }
}

/// Calls a function with values that go over to its frame, also where that fails. `begun` gets the frame before `evaluator` runs it.
///
/// # Safety
/// `function` must be a Python function; `locals`, NULL or its namespace, and the values are owned references; `begun` must take any
/// fresh frame.
pub unsafe fn call_transferring(
    function: *mut ffi::PyObject,
    locals: *mut ffi::PyObject,
    values: &[*mut ffi::PyObject],
    begun: unsafe fn(*mut u8),
    evaluator: Evaluator,
) -> *mut ffi::PyObject {
    // SAFETY: as the caller promises; pushing the frame takes over one reference to the function, too, and the evaluator
    // takes over the frame.
    unsafe {
        let state = ffi::PyThreadState_Get();
        let new = Reference::owned(ffi::Py_NewRef(function));
        let values: SmallVec<[Reference; 8]> = values.iter().map(|value| Reference::owned(*value)).collect();
        let (args, none) = (values.as_ptr(), std::ptr::null_mut());
        let frame = _PyEvalFramePushAndInit(state, new, locals, args, values.len(), none, std::ptr::null_mut());
        if frame.is_null() {
            return std::ptr::null_mut();
        }
        begun(frame);
        evaluator(state, frame, 0)
    }
}

/// The type's version tag, assigned if it can have one; 0 if not.
///
/// # Safety
/// `class` must be a live type.
pub unsafe fn version_tag(class: *mut ffi::PyTypeObject) -> u32 {
    // SAFETY: as the caller promises.
    unsafe {
        PyUnstable_Type_AssignVersionTag(class);
        (*class).tp_version_tag
    }
}
