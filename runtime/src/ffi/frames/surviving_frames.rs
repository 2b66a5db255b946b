//! Frame objects that outlive a transfer: those that a traceback names, or that somebody else keeps. They get the variables of the frame
//! that continues theirs when that one ends.
use super::survivors::{Survivors, alive, references};
use super::variables::data;
use super::{generator_survivors, variables};
use crate::bytecode::flag;
use crate::ffi::layout::{code, frame};
use crate::ffi::raw;
use crate::ffi::release::{self, PyFrameObject, Reference};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::cell::{Cell, RefCell};
use std::mem::offset_of;

/// A continuation's frame that runs, and whose variables surviving frames get.
struct Running {
    /// Its frame object, made for the purpose.
    object: Py<PyAny>,
    survivors: Survivors,
}

thread_local! {
    /// Innermost last; only frames that have survivors.
    static RUNNING: RefCell<Vec<Running>> = const { RefCell::new(Vec::new()) };
    /// Whether the frame that a dispatcher is choosing code for has survivors.
    static CHOOSING: Cell<bool> = const { Cell::new(false) };
    /// The survivors of the frame that begins next.
    static NEXT: RefCell<Vec<Py<PyAny>>> = const { RefCell::new(Vec::new()) };
}

/// Whether the frame that a dispatcher is choosing code for has survivors.
#[must_use]
pub fn exist() -> bool {
    CHOOSING.get()
}

/// Runs a dispatcher's choice; `exist`: whether the frame has survivors.
pub(in crate::ffi) fn choosing<T>(exist: bool, choice: impl FnOnce() -> T) -> T {
    let before = CHOOSING.replace(exist);
    let chosen = choice();
    CHOOSING.set(before);
    chosen
}

/// The object of the frame that runs, if it has one.
fn running_object(py: Python<'_>) -> Option<Bound<'_, PyAny>> {
    // SAFETY: the thread state is alive, and so is the frame that it says runs; a frame's object is alive for as long as the frame
    // runs.
    unsafe {
        let raw = release::current_frame(ffi::PyThreadState_Get().cast());
        if raw.is_null() {
            return None;
        }
        let object: *mut ffi::PyObject = raw::read(raw, offset_of!(release::_PyInterpreterFrame, frame_obj));
        Bound::from_borrowed_ptr_or_opt(py, object)
    }
}

/// Copies the running frame's variables to its survivors, until its next transfer or its end: its next instruction may run code that
/// looks at them, and as long as it does, the frame changes none.
pub(crate) fn share(py: Python<'_>) {
    if RUNNING.with_borrow(Vec::is_empty) && generator_survivors::is_empty() {
        return;
    }
    let Some(object) = running_object(py) else { return };
    let frames = with_survivors(&object, |survivors| {
        survivors.shared = true;
        survivors.frames.iter().map(|frame| frame.clone_ref(py)).collect::<Vec<_>>()
    });
    drop(variables::copy(&object, &frames.unwrap_or_default()));
}

/// Looks at the survivors of the frame of this object, which runs; `None` where it has none.
fn with_survivors<T>(object: &Bound<'_, PyAny>, look: impl FnOnce(&mut Survivors) -> T) -> Option<T> {
    let is_last = RUNNING.with_borrow(|running| running.last().is_some_and(|last| last.object.is(object)));
    if is_last {
        return RUNNING.with_borrow_mut(|running| running.last_mut().map(|last| look(&mut last.survivors)));
    }
    generator_survivors::of(object, look)
}

/// A tuple of the running frame's survivors, its own frame object included; `None` where there are none.
pub(crate) fn of_running(py: Python<'_>) -> PyResult<Option<Bound<'_, PyTuple>>> {
    let Some(object) = running_object(py) else { return Ok(None) };
    // The frame's own reference, and the one just made.
    let mut known = 2;
    let mut frames = Vec::new();
    if let Some(survivors) = with_survivors(&object, std::mem::take) {
        known += 1;
        frames = alive(py, survivors.frames);
        if survivors.shared {
            drop(variables::clear(py, &frames));
        }
    }
    if references(&object) > known {
        frames.push(object.unbind());
    }
    if frames.is_empty() { Ok(None) } else { PyTuple::new(py, frames).map(Some) }
}

/// Runs a call whose frame continues others, and copies its variables to their survivors at its end; where it makes a generator, at the
/// generator's end.
pub(in crate::ffi) fn call_successor<'py>(
    py: Python<'py>,
    survivors: Option<Bound<'py, PyTuple>>,
    call: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let Some(survivors) = survivors else { return call() };
    NEXT.set(survivors.iter().map(Bound::unbind).collect());
    drop(survivors);
    let depth = RUNNING.with_borrow(Vec::len);
    let result = call();
    let left = NEXT.take();
    if let Ok(generator) = &result
        && !left.is_empty()
    {
        generator_survivors::register(generator, left)?;
    }
    while let Some(Running { object, survivors }) =
        RUNNING.with_borrow_mut(|running| if running.len() > depth { running.pop() } else { None })
    {
        let frames = alive(py, survivors.frames);
        variables::copy_at_end(object.bind(py), &frames);
        drop(frames);
        drop(object);
    }
    result
}

/// Gives a frame that is about to begin a frame object of its own, where it has survivors.
///
/// # Safety
/// `raw` must be a fresh frame of the running thread, without a frame object.
pub(in crate::ffi) unsafe fn begin(raw: *mut u8) {
    // SAFETY: a fresh frame's code is a code object.
    let flags: u32 = unsafe { raw::read(frame::code(raw).cast(), code::CO_FLAGS) };
    let frames = if flags & flag::GENERATOR_LIKE == 0 { NEXT.take() } else { Vec::new() };
    if frames.is_empty() {
        return;
    }
    // SAFETY: as the caller promises; attached. A new frame object owns a frame of its own, whose references are dropped before it
    // gets the other one; one that belongs to a running frame is not tracked by the collector.
    let object = unsafe {
        let py = Python::assume_attached();
        let (code, globals) = (frame::code(raw).cast(), raw::read(raw, frame::F_GLOBALS));
        let made: *mut ffi::PyFrameObject =
            ffi::PyFrame_New(ffi::PyThreadState_Get(), code, globals, std::ptr::null_mut());
        let Ok(object) = Bound::<PyAny>::from_owned_ptr_or_err(py, made.cast()) else { return };
        ffi::PyObject_GC_UnTrack(object.as_ptr().cast());
        let own: *mut u8 = data(&object);
        for field in [frame::F_FUNC, frame::F_CODE] {
            let held: Reference = raw::read(own, field);
            raw::write(own, field, Reference::EMPTY);
            if held.counts() {
                ffi::Py_DECREF(held.object());
            }
        }
        raw::write(object.as_ptr().cast(), offset_of!(PyFrameObject, f_frame), raw);
        raw::write(raw, offset_of!(release::_PyInterpreterFrame, frame_obj), object.clone().into_ptr());
        object.unbind()
    };
    RUNNING.with_borrow_mut(|running| running.push(Running { object, survivors: Survivors { frames, shared: false } }));
}
