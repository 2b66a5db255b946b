//! Generators and coroutines that others' frames delegate to after a hand-over: those that wait for the variables of such a frame get them
//! when it has ended, which the generator's death tells.
use super::heirs::{Waiting, alive, bequeath};
use super::layout;
use crate::bytecode::flag;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyWeakrefReference};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::sync::{Arc, Mutex};

/// What is kept while the generator lives, by the address of its frame object.
struct Kept {
    waiting: Arc<Mutex<Waiting>>,
    _death: Py<PyWeakrefReference>,
}

thread_local! {
    static KEPT: RefCell<FxHashMap<usize, Kept>> = RefCell::default();
}

/// Whether nobody waits for any.
pub(super) fn is_empty() -> bool {
    KEPT.with_borrow(FxHashMap::is_empty)
}

/// Looks at those that wait for the generator's frame with this object; `None`: it goes on for nobody.
pub(super) fn of<T>(object: &Bound<'_, PyAny>, look: impl FnOnce(&mut Waiting) -> T) -> Option<T> {
    let waiting = KEPT.with_borrow(|kept| Some(Arc::clone(&kept.get(&(object.as_ptr() as usize))?.waiting)))?;
    let mut waiting = waiting.lock().ok()?;
    Some(look(&mut waiting))
}

/// Gives the heirs the variables of the generator's frame once that has ended. A generator that moves to another thread and hands over
/// there is forgotten: its heirs get what that frame held then.
pub(super) fn wait(generator: &Bound<'_, PyAny>, heirs: Vec<Py<PyAny>>) -> PyResult<()> {
    let py = generator.py();
    let frame =
        ["gi_frame", "cr_frame", "ag_frame"].iter().find_map(|name| generator.getattr_opt(*name).ok().flatten());
    let Some(frame) = frame.filter(|frame| !frame.is_none()) else { return Ok(()) };
    let key = frame.as_ptr() as usize;
    let waiting = Arc::new(Mutex::new(Waiting { heirs, shared: false }));
    let (left, frame) = (Arc::clone(&waiting), frame.unbind());
    let told = PyCFunction::new_closure(py, None, None, move |args, _| {
        let py = args.py();
        let heirs = left.lock().map(|mut left| std::mem::take(&mut left.heirs)).unwrap_or_default();
        bequeath(frame.bind(py), &alive(py, heirs));
        // What it held ends when all is done.
        let kept = KEPT.with_borrow_mut(|kept| kept.remove(&key));
        drop(kept);
    })?;
    let death = PyWeakrefReference::new_with(generator, told)?.unbind();
    KEPT.with_borrow_mut(|kept| kept.insert(key, Kept { waiting, _death: death }));
    Ok(())
}

/// A generator that goes on for another one ends with that one, which closes it: its own end runs nothing more, as an ended generator's does not,
/// also where it did not end on being closed. `function` is what was called, `made` what that gave.
pub(super) fn end_in_silence(function: &Bound<'_, PyAny>, made: &Bound<'_, PyAny>) {
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
        let flags: u32 = layout::read(ffi::PyFunction_GetCode(function.as_ptr()).cast(), layout::code::CO_FLAGS);
        let delegates = flags & (flag::GENERATOR | flag::COROUTINE) != 0;
        if delegates {
            *raw.cast::<usize>().sub(1) |= FINALIZED;
        }
        debug_assert!(!delegates || ffi::PyObject_GC_IsFinalized(raw) == 1, "the collector's head has changed");
    }
}
