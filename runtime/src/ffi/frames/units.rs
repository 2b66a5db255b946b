//! Integers on the stack of the running frame that are no objects, and that only the interpreter puts there and reads: from 3.14 on
//! places in code (`lasti`), as handlers get them, which are objects before; from 3.15 on indices of sequences that loops read.
use crate::ffi::layout::{code, frame};
use crate::ffi::raw;
use crate::ffi::release::{self, Reference};
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::c_int;

/// The part of the running frame's stack that is in use.
fn stack<'a>() -> Option<&'a mut [Reference]> {
    // SAFETY: attached, as only instructions of the frame lead here; it runs, so that its code is a code object, and its stack is written
    // out while what it calls runs.
    unsafe {
        let running = release::current_frame(ffi::PyThreadState_Get().cast());
        if running.is_null() {
            return None;
        }
        let slots: c_int = raw::read(frame::code(running).cast(), code::CO_NLOCALSPLUS);
        let slots = usize::try_from(slots).ok()?;
        let used = usize::try_from(release::stack_end(running)).ok()?.checked_sub(slots)?;
        Some(std::slice::from_raw_parts_mut(frame::slot(running, slots), used))
    }
}

/// Makes objects of all integers on the running frame's stack.
///
/// # Errors
/// Where there is no memory for them.
pub(crate) fn make_objects(py: Python<'_>) -> PyResult<()> {
    for slot in stack().into_iter().flatten() {
        if let Some(unit) = slot.integer() {
            let object = unit.into_pyobject(py)?.into_any();
            // SAFETY: an owned reference; an integer counts for none.
            *slot = unsafe { Reference::owned(object.into_ptr()) };
        }
    }
    Ok(())
}

/// Makes integers of the objects at these places of the running frame's stack, where the release has them.
///
/// # Errors
/// Where one is none.
pub(crate) fn make_integers(py: Python<'_>, places: &[usize]) -> PyResult<()> {
    for place in places {
        let Some(slot) = stack().and_then(|stack| stack.get_mut(*place)) else { continue };
        // SAFETY: the slot keeps its object alive.
        let Some(object) = (unsafe { Bound::from_borrowed_ptr_or_opt(py, slot.object()) }) else { continue };
        let Some(unit) = Reference::of_integer(object.extract()?) else { continue };
        let before = std::mem::replace(slot, unit);
        if before.counts() {
            // SAFETY: the slot had a reference, which is no longer there.
            drop(unsafe { Bound::from_owned_ptr(py, before.object()) });
        }
    }
    Ok(())
}
