//! Frame objects that outlive the transfer of a generator's frame: they get the variables of the generator that continues theirs when that
//! one ends, as a weak reference tells.
use super::survivors::{Survivors, alive};
use super::variables;
use crate::bytecode::flag;
use crate::ffi::{layout, raw, release};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyWeakrefReference};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::mem::offset_of;
use std::sync::{Arc, Mutex};

/// The survivors of a generator's frame, while the generator lives.
struct Entry {
    survivors: Arc<Mutex<Survivors>>,
    _end: Py<PyWeakrefReference>,
}

thread_local! {
    /// By the address of the generator's frame object.
    static ENTRIES: RefCell<FxHashMap<usize, Entry>> = RefCell::default();
}

/// Whether no generator has survivors.
pub(super) fn is_empty() -> bool {
    ENTRIES.with_borrow(FxHashMap::is_empty)
}

/// Looks at the survivors of the generator's frame with this object; `None` where it has none.
pub(super) fn of<T>(object: &Bound<'_, PyAny>, look: impl FnOnce(&mut Survivors) -> T) -> Option<T> {
    let entry =
        |entries: &FxHashMap<usize, Entry>| Some(Arc::clone(&entries.get(&(object.as_ptr() as usize))?.survivors));
    let survivors = ENTRIES.with_borrow(entry)?;
    let mut survivors = survivors.lock().ok()?;
    Some(look(&mut survivors))
}

/// Copies the variables of the generator's frame to the survivors once it has ended. A generator that moves to another thread and is
/// transferred there is forgotten: its survivors get what that frame held then.
pub(super) fn register(generator: &Bound<'_, PyAny>, frames: Vec<Py<PyAny>>) -> PyResult<()> {
    let py = generator.py();
    let frame =
        ["gi_frame", "cr_frame", "ag_frame"].iter().find_map(|name| generator.getattr_opt(*name).ok().flatten());
    let Some(frame) = frame.filter(|frame| !frame.is_none()) else { return Ok(()) };
    let key = frame.as_ptr() as usize;
    frames.iter().for_each(|frame| suspend(frame.bind(py)));
    let survivors = Arc::new(Mutex::new(Survivors { frames, shared: false }));
    let (left, frame) = (Arc::clone(&survivors), frame.unbind());
    let at_end = PyCFunction::new_closure(py, None, None, move |args, _| {
        let py = args.py();
        let frames = left.lock().map(|mut left| std::mem::take(&mut left.frames)).unwrap_or_default();
        let replaced = variables::leave(frame.bind(py), &alive(py, frames));
        // What it held is freed when all is done.
        let entry = ENTRIES.with_borrow_mut(|entries| entries.remove(&key));
        drop((entry, replaced));
    })?;
    let end = PyWeakrefReference::new_with(generator, at_end)?.unbind();
    ENTRIES.with_borrow_mut(|entries| entries.insert(key, Entry { survivors, _end: end }));
    Ok(())
}

/// A frame that others keep leads to no caller while the generator is suspended: it would keep what that holds.
fn suspend(object: &Bound<'_, PyAny>) {
    // SAFETY: survivors are frame objects; the field is NULL or an owned reference, which is dropped when it is gone from there.
    unsafe {
        let at = offset_of!(release::PyFrameObject, f_back);
        let back: *mut ffi::PyObject = raw::read(object.as_ptr().cast(), at);
        raw::write(object.as_ptr().cast(), at, std::ptr::null_mut::<ffi::PyObject>());
        ffi::Py_XDECREF(back);
    }
}

/// Marks a generator that continues another one as finalised. The other one closes it; its own end must run nothing, also where it did not
/// end on being closed. `function` is what was called, `made` what that gave.
pub(in crate::ffi) fn mark_finalised(function: &Bound<'_, PyAny>, made: &Bound<'_, PyAny>) {
    /// `_PyGC_PREV_MASK_FINALIZED`, in the second word of `PyGC_Head`, which stands before the object.
    const FINALIZED: usize = 1;
    // SAFETY: a function's code is a code object; an exact generator or coroutine is an object of the collector, whose head is two
    // words before it. The bit says that the finaliser has run, which is asked when the object ends.
    unsafe {
        let raw = made.as_ptr();
        if ffi::PyFunction_Check(function.as_ptr()) == 0
            || ffi::PyGen_CheckExact(raw) == 0 && ffi::PyCoro_CheckExact(raw) == 0
        {
            return;
        }
        let flags: u32 = raw::read(ffi::PyFunction_GetCode(function.as_ptr()).cast(), layout::code::CO_FLAGS);
        let delegates = flags & (flag::GENERATOR | flag::COROUTINE) != 0;
        if delegates {
            *raw.cast::<usize>().sub(1) |= FINALIZED;
        }
        debug_assert!(!delegates || ffi::PyObject_GC_IsFinalized(raw) == 1, "the collector's head has changed");
    }
}
