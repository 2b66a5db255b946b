//! Integers on the stack of the running frame that are no objects, and that only the interpreter puts there and reads: from 3.14 on
//! places in code (`lasti`), as handlers get them, which are objects before; from 3.15 on indices of sequences that loops read.
use crate::ffi::layout::{code, frame};
use crate::ffi::raw;
use crate::ffi::release::{self, Reference};
use pyo3::prelude::*;
use pyo3::types::PyList;
use pyo3::{ffi, intern};
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

/// Makes iterators of the sequences that the running frame reads by the indices at these places of its stack, which become empty.
///
/// # Errors
/// Where there is no memory for them.
pub(crate) fn make_iterators(py: Python<'_>, places: &[usize]) -> PyResult<()> {
    for place in places {
        let Some([sequence, index]) = pair(*place) else { continue };
        let Some(next) = index.integer() else { continue };
        // SAFETY: the slot keeps its object alive.
        let Some(object) = (unsafe { Bound::from_borrowed_ptr_or_opt(py, sequence.object()) }) else { continue };
        let iterator = iterator_at(&object, next)?;
        // That ran no code of the program, but its memory may have moved.
        let Some([sequence, index]) = pair(*place) else { continue };
        // SAFETY: an owned reference.
        let before = std::mem::replace(sequence, unsafe { Reference::owned(iterator.into_ptr()) });
        *index = Reference::EMPTY;
        if before.counts() {
            // SAFETY: the slot had a reference, which is no longer there; `object` is another one.
            drop(unsafe { Bound::from_owned_ptr(py, before.object()) });
        }
    }
    Ok(())
}

/// The slots of a sequence and of the index by which it is read.
fn pair<'a>(place: usize) -> Option<&'a mut [Reference; 2]> {
    stack()?.get_mut(place.checked_sub(1)?..=place)?.try_into().ok()
}

/// An iterator over a list, tuple, string or bytes object that gives the item at `next` first, if there is one by then.
fn iterator_at<'py>(sequence: &Bound<'py, PyAny>, next: isize) -> PyResult<Bound<'py, PyAny>> {
    let iterator = sequence.try_iter()?.into_any();
    iterator.call_method1(intern!(sequence.py(), "__setstate__"), (next,))?;
    if let Ok(list) = sequence.cast_exact::<PyList>()
        && list.len().cast_signed() < next
    {
        // `__setstate__` goes no further than to the end; the list may grow again.
        // SAFETY: an iterator of lists, as `iter()` has just made it: `it_index` is the first field after the head. CPython:
        // Include/internal/pycore_list.h, `_PyListIterObject`.
        unsafe { iterator.as_ptr().add(1).cast::<isize>().write(next) };
    }
    Ok(iterator)
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
