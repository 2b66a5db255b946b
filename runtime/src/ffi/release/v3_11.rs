//! CPython 3.11: who calls the evaluator clears the frame.
use crate::ffi::raw;
use generated::layouts::v3_11 as layouts;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::c_int;
use std::mem::{offset_of, size_of};

pub use super::argument_transfer::call_transferring;
pub use super::pending::check as check_pending;
pub use layouts::{_PyInterpreterFrame, PyCodeObject, PyFrameObject, PyThreadState};

/// Of a frame: its code object.
pub const F_CODE: usize = offset_of!(_PyInterpreterFrame, f_code);
/// Of a frame: its function.
pub const F_FUNC: usize = offset_of!(_PyInterpreterFrame, f_func);
/// Of a frame: where it is in its code.
pub const INSTR: usize = offset_of!(_PyInterpreterFrame, prev_instr);
/// Of a thread: how many more calls its limit of recursion leaves.
pub const CALLS_LEFT: usize = offset_of!(PyThreadState, recursion_remaining);
/// What [`INSTR`] holds before the first instruction, in bytes from the code's first.
pub const FRESH: isize = -2;

/// Of the process: the calls that only the main thread makes; here those of its one interpreter.
const MAIN_CALLS: Option<usize> = None;

/// Whether a signal, a pending call or an exception from another thread is what this thread handles where it next looks.
#[must_use]
pub fn is_pending(py: Python<'_>) -> bool {
    super::pending::is_pending(py, MAIN_CALLS)
}

unsafe extern "C" {
    fn _PyType_Lookup(class: *mut ffi::PyTypeObject, name: *mut ffi::PyObject) -> *mut ffi::PyObject;
}

/// `FRAME_SPECIALS_SIZE`.
const SPECIALS: usize = offset_of!(_PyInterpreterFrame, localsplus) / size_of::<usize>();

/// Another number each time that tools of `sys.monitoring` set events for all code: this release has none.
#[must_use]
pub fn monitoring_version(_py: Python<'_>) -> usize {
    0
}

/// The frame that the thread runs; NULL where it runs none.
///
/// # Safety
/// `state` must be a live thread state.
pub unsafe fn current_frame(state: *mut u8) -> *mut u8 {
    // SAFETY: as the caller promises; `_PyCFrame.current_frame` comes behind a byte.
    unsafe { raw::read(raw::read(state, offset_of!(PyThreadState, cframe)), 8) }
}

/// The thread runs another frame, or none.
///
/// # Safety
/// `state` must be the running thread's; `frame` NULL, or a frame that runs on it.
pub unsafe fn set_current_frame(state: *mut u8, frame: *mut u8) {
    // SAFETY: as the caller promises; `_PyCFrame.current_frame` comes behind a byte.
    unsafe { raw::write(raw::read(state, offset_of!(PyThreadState, cframe)), 8, frame) }
}

/// Whether monitoring has changed the code: this release has none.
///
/// # Safety
/// None: later releases have a condition.
pub unsafe fn is_monitored(_code: *mut ffi::PyObject) -> bool {
    false
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
    let field = |offset| unsafe { raw::read::<c_int>(code.cast(), offset) };
    let slots = field(offset_of!(PyCodeObject, co_nlocalsplus)) + field(offset_of!(PyCodeObject, co_stacksize));
    slots + SPECIALS as c_int
}

/// Makes ready what [`finish`] needs.
///
/// # Errors
/// None here.
pub fn prepare(_py: Python<'_>) -> PyResult<()> {
    Ok(())
}

/// Ends a fresh frame as its evaluator would: it leaves that to its caller.
///
/// # Safety
/// Both must be what the interpreter handed to an evaluator, which returns next.
pub unsafe fn finish(_state: *mut ffi::PyThreadState, _frame: *mut u8) {}

/// The type's version tag, assigned if it can have one; 0 if not.
///
/// # Safety
/// `class` must be a live type.
pub unsafe fn version_tag(class: *mut ffi::PyTypeObject) -> u32 {
    const VALID_VERSION_TAG: u64 = 1 << 19;
    // SAFETY: as the caller promises; looking up an attribute assigns the tag, and the result is borrowed.
    unsafe {
        let py = Python::assume_attached();
        _PyType_Lookup(class, pyo3::intern!(py, "__doc__").as_ptr());
        if ffi::PyType_GetFlags(class) as u64 & VALID_VERSION_TAG == 0 { 0 } else { (*class).tp_version_tag }
    }
}
