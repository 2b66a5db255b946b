//! Frames of code that ran in the place of the program's: where an exception has left them, they become frames of the code that the program
//! knows, and its traceback says where in that code they were.
use super::survivors::references;
use super::variables::{FrameVariables, data};
use crate::ffi::layout::{code, frame};
use crate::ffi::raw;
use crate::ffi::release::{self, PyFrameObject, Reference};
use crate::ffi::root::{StandIn, stand_in};
use pyo3::ffi::{self, PyBaseExceptionObject, PyTracebackObject};
use pyo3::prelude::*;
use smallvec::SmallVec;
use std::ffi::c_int;
use std::mem::offset_of;

/// So many exceptions of a chain are looked at.
const EXCEPTIONS: usize = 8;

/// So many entries of each traceback are.
const ENTRIES: usize = 4;

type Entries = SmallVec<[*mut PyTracebackObject; 8]>;

/// The error, after its frames have become the program's. A frame that others may know from another traceback stays as it is: a place in its
/// code would be another one then.
pub fn restored(py: Python<'_>, error: PyErr) -> PyErr {
    // Before 3.12, an exception need not have been made yet.
    if cfg!(Py_3_12) {
        let mut exceptions: SmallVec<[*mut PyBaseExceptionObject; 8]> = SmallVec::new();
        exceptions.push(error.value(py).as_ptr().cast());
        let mut entries = Entries::new();
        let mut next = 0;
        while let Some(exception) = exceptions.get(next).copied() {
            next += 1;
            // SAFETY: the error holds its exception, which holds those that it comes from and its traceback.
            unsafe {
                entries_of((*exception).traceback.cast(), &mut entries);
                for other in [(*exception).context, (*exception).cause] {
                    add(other, &mut exceptions);
                }
                if let Some(first) = first_frame(exception) {
                    held(py, first, &mut exceptions);
                }
            }
        }
        restore_all(py, &entries);
    }
    error
}

/// Adds an exception that is not among them.
///
/// # Safety
/// NULL, or a live object.
unsafe fn add(object: *mut ffi::PyObject, exceptions: &mut SmallVec<[*mut PyBaseExceptionObject; 8]>) {
    // SAFETY: as the caller promises.
    let is_one = !object.is_null() && unsafe { ffi::PyExceptionInstance_Check(object) } != 0;
    if is_one && exceptions.len() < EXCEPTIONS && !exceptions.contains(&object.cast()) {
        exceptions.push(object.cast());
    }
}

/// The frame that the exception reached last.
///
/// # Safety
/// A live exception.
unsafe fn first_frame(exception: *mut PyBaseExceptionObject) -> Option<*mut ffi::PyObject> {
    // SAFETY: an exception's traceback is NULL or a traceback, which has a frame.
    unsafe {
        let entry: *mut PyTracebackObject = (*exception).traceback.cast();
        entry.as_ref().map(|entry| entry.tb_frame.cast())
    }
}

/// Adds the exceptions that variables of a frame hold.
///
/// # Safety
/// A live frame object.
unsafe fn held(py: Python<'_>, object: *mut ffi::PyObject, exceptions: &mut SmallVec<[*mut PyBaseExceptionObject; 8]>) {
    // SAFETY: as the caller promises; slots hold live objects or NULL.
    unsafe {
        let object = Bound::from_borrowed_ptr(py, object);
        if let Some(variables) = FrameVariables::of_ended(&object) {
            (0..variables.len()).for_each(|slot| add((*variables.place(slot)).object(), exceptions));
        }
    }
}

/// Adds the first entries of a traceback.
///
/// # Safety
/// NULL, or a live traceback.
unsafe fn entries_of(first: *mut PyTracebackObject, entries: &mut Entries) {
    let mut entry = first;
    for _ in 0..ENTRIES {
        if entry.is_null() || entries.contains(&entry) {
            return;
        }
        entries.push(entry);
        // SAFETY: as the caller promises; an entry holds the next one.
        entry = unsafe { (*entry).tb_next };
    }
}

fn restore_all(py: Python<'_>, entries: &Entries) {
    let mut frames: SmallVec<[*mut PyFrameObject; 8]> = SmallVec::new();
    for entry in entries {
        // SAFETY: the entries live, and hold their frames.
        let object: *mut PyFrameObject = unsafe { (**entry).tb_frame.cast() };
        if !frames.contains(&object) {
            frames.push(object);
        }
    }
    for object in &frames {
        // SAFETY: as above.
        let at = entries.iter().filter(|entry| unsafe { (***entry).tb_frame.cast() } == *object);
        let at: Entries = at.copied().collect();
        // SAFETY: a frame holds the one that it came back to.
        let before = frames.iter().filter(|other| unsafe { (***other).f_back.cast() } == *object).count();
        // SAFETY: as above; one reference more is held from here on.
        let object = unsafe { Bound::<PyAny>::from_borrowed_ptr(py, object.cast()) };
        if references(&object) == (at.len() + before + 1) as isize {
            // Where it cannot be done, the frame stays as it is.
            drop(restore(&object, &at));
        }
    }
}

/// Makes a frame that has ended one of the code that the program knows. `entries` are all that name it.
fn restore(object: &Bound<'_, PyAny>, entries: &Entries) -> PyResult<Option<()>> {
    let py = object.py();
    let Some(variables) = FrameVariables::of_ended(object) else { return Ok(None) };
    let raw = data(object);
    // SAFETY: variables are only made of a frame whose code is one.
    let own = unsafe { Bound::<PyAny>::from_borrowed_ptr(py, frame::code(raw)) };
    let Some(stand_in) = stand_in(&own) else { return Ok(None) };
    let root = stand_in.root();
    let mut places = SmallVec::<[c_int; 8]>::new();
    for entry in entries {
        // SAFETY: the caller's entries live.
        let (at, line) = unsafe { ((**entry).tb_lasti, (**entry).tb_lineno) };
        // An entry that says its line needs no place.
        match if at < 0 { None } else { stand_in.place(at)? } {
            Some(place) => places.push(place),
            None if line > 0 => places.push(-1),
            None => return Ok(None),
        }
    }
    let Some(stands) = standing(object, &stand_in, &places)? else { return Ok(None) };
    let Some(left) = variables.moved(stand_in.slots()?) else { return Ok(None) };
    // SAFETY: the frame belongs to its object, and has as many slots as the code has variables; the place lies in the code. What it had is
    // dropped when all is done.
    unsafe {
        let before: Reference = raw::read(raw, frame::F_CODE);
        frame::set_code(raw, root.clone().into_ptr());
        let first = root.as_ptr().cast::<u8>().add(code::CO_CODE_ADAPTIVE);
        raw::write(raw, release::INSTR, first.offset(stands as isize));
        for (entry, place) in entries.iter().zip(places) {
            (**entry).tb_lasti = place;
        }
        if before.counts() {
            drop(Bound::from_owned_ptr(py, before.object()));
        }
    }
    drop(left);
    Ok(Some(()))
}

/// Where the frame stands in the program's code; the place of a traceback serves where it says its line itself.
fn standing(object: &Bound<'_, PyAny>, stand_in: &StandIn<'_>, places: &[c_int]) -> PyResult<Option<c_int>> {
    // SAFETY: a frame object that has ended, whose place lies in its code.
    let (line, at) = unsafe {
        let raw = data(object);
        let line: c_int = raw::read(object.as_ptr().cast(), offset_of!(PyFrameObject, f_lineno));
        let first = frame::code(raw).cast::<u8>().add(code::CO_CODE_ADAPTIVE);
        let at: *const u8 = raw::read(raw, release::INSTR);
        (line, at as isize - first as isize)
    };
    let found = stand_in.place(i32::try_from(at).unwrap_or(-1))?;
    let said = || places.iter().copied().find(|place| *place >= 0).filter(|_| line > 0);
    Ok(found.or_else(said))
}
