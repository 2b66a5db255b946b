//! CPython 3.12: the evaluator clears the frame that it is given; nothing else that does so is exported.
use crate::ffi::raw;
use generated::layouts::v3_12 as layouts;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use std::ffi::c_int;
use std::mem::offset_of;

pub use super::argument_transfer::call_transferring;
pub use super::pending::check as check_pending;
pub use layouts::{_PyInterpreterFrame, PyCodeObject, PyFrameObject, PyThreadState};

/// Of a frame: its code object.
pub const F_CODE: usize = offset_of!(_PyInterpreterFrame, f_code);
/// Of a frame: its function.
pub const F_FUNC: usize = offset_of!(_PyInterpreterFrame, f_funcobj);
/// Of a frame: where it is in its code.
pub const INSTR: usize = offset_of!(_PyInterpreterFrame, prev_instr);
/// Of a thread: how many more calls its limit of recursion leaves.
pub const CALLS_LEFT: usize = offset_of!(PyThreadState, py_recursion_remaining);
/// What [`INSTR`] holds before the first instruction, in bytes from the code's first.
pub const FRESH: isize = -2;

/// Of the process: the calls that only the main thread makes.
const MAIN_CALLS: Option<usize> =
    Some(offset_of!(layouts::_PyRuntimeState, ceval) + offset_of!(layouts::_ceval_runtime_state, pending_mainthread));

unsafe extern "C" {
    fn PyUnstable_Type_AssignVersionTag(class: *mut ffi::PyTypeObject) -> c_int;
}

/// Whether a signal, a pending call or an exception from another thread is what this thread handles where it next looks.
#[must_use]
pub fn is_pending(py: Python<'_>) -> bool {
    super::pending::is_pending(py, MAIN_CALLS)
}

/// Another number each time that tools of `sys.monitoring` set events for all code; 0 where none ever did.
#[must_use]
pub fn monitoring_version(_py: Python<'_>) -> usize {
    // SAFETY: attached, so that the interpreter is live.
    unsafe {
        raw::read(ffi::PyInterpreterState_Get().cast(), offset_of!(layouts::PyInterpreterState, monitoring_version))
    }
}

/// The frame that the thread runs; NULL where it runs none.
///
/// # Safety
/// `state` must be a live thread state.
pub unsafe fn current_frame(state: *mut u8) -> *mut u8 {
    // SAFETY: as the caller promises; `_PyCFrame.current_frame` comes first.
    unsafe { raw::read(raw::read(state, offset_of!(PyThreadState, cframe)), 0) }
}

/// The thread runs another frame, or none.
///
/// # Safety
/// `state` must be the running thread's; `frame` NULL, or a frame that runs on it.
pub unsafe fn set_current_frame(state: *mut u8, frame: *mut u8) {
    // SAFETY: as the caller promises; `_PyCFrame.current_frame` comes first.
    unsafe { raw::write(raw::read(state, offset_of!(PyThreadState, cframe)), 0, frame) }
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
pub const KEEPS_RECEIVER: bool = false;

/// The stack of a frame is empty above this many slots.
///
/// # Safety
/// `frame` must be a live frame whose code has that many slots.
pub unsafe fn set_stack(frame: *mut u8, slots: c_int) {
    // SAFETY: as the caller promises.
    unsafe { raw::write(frame, offset_of!(_PyInterpreterFrame, stacktop), slots) };
}

/// How many slots of a frame are in use.
///
/// # Safety
/// `frame` must be a live frame.
pub unsafe fn stack_end(frame: *mut u8) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { raw::read(frame, offset_of!(_PyInterpreterFrame, stacktop)) }
}

/// Words that a frame of this code takes.
///
/// # Safety
/// `code` must be a code object.
pub unsafe fn frame_size(code: *mut ffi::PyObject) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { raw::read(code.cast(), offset_of!(PyCodeObject, co_framesize)) }
}

/// The code of a function that only returns `None`: `RESUME`, `RETURN_CONST`. No one else can get hold of it, so that it is
/// never instrumented.
fn returns(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static CODE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let made = CODE.get_or_try_init(py, || PyResult::Ok(py.eval(c"(lambda: None).__code__", None, None)?.unbind()))?;
    Ok(made.bind(py))
}

/// Makes ready what [`finish`] needs.
///
/// # Errors
/// The interpreter's own.
pub fn prepare(py: Python<'_>) -> PyResult<()> {
    returns(py).map(|_| ())
}

/// Ends a fresh frame as its evaluator would: its evaluator does it, by running a `RETURN_CONST` in it, which no trace
/// function sees as the frame's start is skipped. No exception may be set.
///
/// # Safety
/// Both must be what the interpreter handed to an evaluator, which returns next; [`prepare`] has been called.
pub unsafe fn finish(state: *mut ffi::PyThreadState, frame: *mut u8) {
    // SAFETY: attached, as the caller runs on behalf of the interpreter.
    let py = unsafe { Python::assume_attached() };
    let Ok(code) = returns(py) else { return };
    let new = code.clone().into_ptr();
    // SAFETY: the frame owns its code object; its stack is empty above its slots, whatever their number.
    unsafe {
        let old: *mut ffi::PyObject = raw::read(frame, F_CODE);
        raw::write(frame, F_CODE, new);
        raw::write(frame, INSTR, new.cast::<u8>().add(offset_of!(PyCodeObject, co_code_adaptive)));
        ffi::Py_DECREF(old);
        let result = super::evaluator::_PyEval_EvalFrameDefault(state, frame, 0);
        if result.is_null() {
            // At the recursion limit the evaluator refuses, and clears the frame all the same.
            ffi::PyErr_Clear();
        } else {
            ffi::Py_DECREF(result);
        }
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
