//! Tracebacks of exceptions that were raised while a frame ran symbolically.
use crate::ffi::{layout, raw, release};
use crate::names::name;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCode, PyDict, PyTuple};
use std::mem::offset_of;

/// A frame that an exception passed through.
#[derive(Debug, FromPyObject)]
enum Passed {
    /// The compiled frame itself, at this line, and whether the call of this function stands at the place in the source.
    Here(i32, bool),
    /// A frame that was inlined: code, globals, offsets of the instruction and of the frame's last, line, slots of its variables, and whether it has a namespace.
    Inlined(Py<PyCode>, Py<PyDict>, (i32, i32), i32, (Vec<usize>, bool)),
}

/// Gives an exception the traceback that it would have. `passed` lists the frames, innermost first, or before them `None`, for the traceback of
/// another exception; `held` that exception, then the values of the frames' variables and their namespaces, one frame's after the other's.
///
/// Called by compiled code; its own frame is the current one.
#[pyfunction]
pub fn add_traceback(
    exception: &Bound<'_, PyAny>,
    passed: Vec<Bound<'_, PyAny>>,
    held: &Bound<'_, PyTuple>,
) -> PyResult<()> {
    let py = exception.py();
    let class = crate::ffi::snapshot::original(py, "types", "TracebackType")?;
    let mut held = held.iter();
    for entry in passed {
        if entry.is_none() {
            let other = held.next().map(|other| other.getattr(name!("__traceback__")));
            exception.setattr(name!("__traceback__"), other.transpose()?)?;
            continue;
        }
        let (frame, lasti, line) = match entry.extract()? {
            Passed::Here(line, stands_there) => {
                let frame = current(py);
                let lasti = frame.as_ref().filter(|_| stands_there).map(|frame| frame.getattr(name!("f_lasti")));
                // Without a place in the code, no columns are marked: the code that runs is another.
                (frame, lasti.transpose()?.map_or(Ok(-1), |lasti| lasti.extract())?, line)
            }
            Passed::Inlined(code, globals, (lasti, rest), line, (slots, has_namespace)) => {
                let variables: Vec<_> = held.by_ref().take(slots.len()).collect();
                let namespace = if has_namespace { held.next() } else { None };
                let frame = stand_in(code.bind(py), globals.bind(py), namespace.as_ref(), rest)?;
                for (slot, value) in slots.into_iter().zip(variables) {
                    put(&frame, slot, value);
                }
                (Some(frame), lasti, line)
            }
        };
        let Some(frame) = frame else { continue };
        let made = class.call1((exception.getattr(name!("__traceback__"))?, frame, lasti, line))?;
        exception.setattr(name!("__traceback__"), made)?;
    }
    Ok(())
}

/// The error without the first entries of its traceback that are of the function's file.
pub fn without_callers(function: &Bound<'_, PyAny>, error: PyErr) -> PyErr {
    let py = function.py();
    let Ok(own) = file_of(function, "__code__") else { return error };
    while let Some(entry) = error.traceback(py) {
        let of = entry.getattr(name!("tb_frame")).and_then(|frame| file_of(&frame, "f_code"));
        if !of.is_ok_and(|of| of.eq(&own).unwrap_or(false)) {
            break;
        }
        let next = entry.getattr(name!("tb_next")).ok().and_then(|next| next.cast_into().ok());
        error.set_traceback(py, next);
    }
    error
}

fn file_of<'py>(object: &Bound<'py, PyAny>, code: &str) -> PyResult<Bound<'py, PyAny>> {
    object.getattr(code)?.getattr(name!("co_filename"))
}

/// The Python frame that runs.
pub fn current(py: Python<'_>) -> Option<Bound<'_, PyAny>> {
    // SAFETY: attached; the result is borrowed, or NULL where no Python frame runs.
    unsafe { Bound::from_borrowed_ptr_or_opt(py, ffi::PyEval_GetFrame().cast()) }
}

/// Gives a variable of a frame that never runs its value.
fn put(frame: &Bound<'_, PyAny>, slot: usize, value: Bound<'_, PyAny>) {
    // SAFETY: a frame object made for a code object owns a frame with a slot for each of the code's variables, which are NULL at first.
    unsafe {
        let inner: *mut u8 = raw::read(frame.as_ptr().cast(), offset_of!(release::PyFrameObject, f_frame));
        let code = layout::frame::code(inner).cast::<u8>();
        let count: std::ffi::c_int = raw::read(code, layout::code::CO_NLOCALSPLUS);
        let place = layout::frame::slot(inner, slot);
        if slot < usize::try_from(count).unwrap_or(0) && (*place).object().is_null() {
            *place = release::Reference::owned(value.into_ptr());
        }
    }
}

/// A frame that never runs, for a call that was inlined: it stands at the instruction, its variables are unbound at first.
pub(in crate::ffi) fn stand_in<'py>(
    code: &Bound<'py, PyCode>,
    globals: &Bound<'py, PyDict>,
    namespace: Option<&Bound<'py, PyAny>>,
    lasti: i32,
) -> PyResult<Bound<'py, PyAny>> {
    let py = code.py();
    let length = code.getattr(name!("co_code"))?.len()?;
    // SAFETY: attached; all arguments are live; the result is a new reference or NULL with an exception set. A new frame object holds its
    // frame, whose place in the code may be any instruction of it.
    unsafe {
        let state = ffi::PyThreadState_Get();
        let namespace = namespace.map_or(std::ptr::null_mut(), Bound::as_ptr);
        let frame = ffi::PyFrame_New(state, code.as_ptr().cast(), globals.as_ptr(), namespace);
        let frame = Bound::from_owned_ptr_or_err(py, frame.cast())?;
        let inner: *mut u8 = raw::read(frame.as_ptr().cast(), offset_of!(release::PyFrameObject, f_frame));
        if let Some(offset) = usize::try_from(lasti).ok().filter(|offset| *offset < length) {
            let first = code.as_ptr().cast::<u8>().add(offset_of!(release::PyCodeObject, co_code_adaptive));
            raw::write(inner, release::INSTR, first.add(offset));
        }
        Ok(frame)
    }
}
