//! What a suspended generator's frame shows while it delegates to the generator that continues it: the variables of that one's frame, and the
//! line where it stands.
use super::variables::{FrameVariables, data};
use crate::ffi::layout::{code, frame};
use crate::ffi::raw;
use crate::ffi::release::{self, PyFrameObject};
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::c_int;
use std::mem::offset_of;
use std::sync::OnceLock;

/// Shows, in the running frame, where the generator that it delegates to is suspended.
pub(super) fn show(rest: &Bound<'_, PyAny>) {
    let Some(inner) = suspended_frame(rest) else { return };
    // SAFETY: attached, so that the thread's state is live; both frames are: the running one, and that of a generator that has not ended.
    unsafe {
        let state = ffi::PyThreadState_Get();
        let shown = release::current_frame(state.cast());
        let (Some(to), Some(from)) =
            (FrameVariables::of_frame(rest.py(), shown), FrameVariables::of_frame(rest.py(), inner))
        else {
            return;
        };
        drop(to.take(&from));
        let object = offset_of!(release::_PyInterpreterFrame, frame_obj);
        if raw::read::<*mut u8>(shown, object).is_null() {
            ffi::Py_XDECREF(ffi::PyThreadState_GetFrame(state).cast());
        }
        let object: *mut u8 = raw::read(shown, object);
        if object.is_null() {
            // There was no memory for it.
            ffi::PyErr_Clear();
        } else {
            raw::write(object, offset_of!(PyFrameObject, f_lineno), line(inner));
        }
    }
}

/// Empties the variables that the running frame has shown: what continues it goes on, and may change its own.
///
/// # Safety
/// `shown` must be a live frame that delegates.
pub(super) unsafe fn hide(py: Python<'_>, shown: *mut u8) {
    // SAFETY: as the caller promises. What it showed is alive: the frame that goes on has it, too.
    unsafe { drop(FrameVariables::of_frame(py, shown).map(|shown| shown.emptied())) };
}

/// The frame in a generator or coroutine that has not ended.
fn suspended_frame(generator: &Bound<'_, PyAny>) -> Option<*mut u8> {
    /// Where it lies in a generator, the same for all kinds.
    static AT: OnceLock<usize> = OnceLock::new();
    let raw = generator.as_ptr().cast::<u8>();
    if let Some(at) = AT.get() {
        // SAFETY: an object of the kind that it was found in.
        return Some(unsafe { raw.add(*at) });
    }
    let object =
        ["gi_frame", "cr_frame", "ag_frame"].iter().find_map(|name| generator.getattr_opt(*name).ok().flatten())?;
    if object.is_none() {
        return None;
    }
    let found = data(&object);
    // SAFETY: the frame object of a generator that has not ended stands for the frame within it.
    let at = usize::try_from(unsafe { found.offset_from(raw) }).ok()?;
    AT.get_or_init(|| at);
    Some(found)
}

/// The line where a suspended frame stands.
///
/// # Safety
/// `raw` must be a live frame that does not run.
unsafe fn line(raw: *mut u8) -> c_int {
    // SAFETY: as the caller promises; its place lies within its code.
    unsafe {
        let (code, at) = (frame::code(raw), raw::read::<*mut u8>(raw, frame::INSTR));
        let offset = at.offset_from(code.cast::<u8>().add(code::CO_CODE_ADAPTIVE));
        ffi::PyCode_Addr2Line(code.cast(), offset as c_int)
    }
}
