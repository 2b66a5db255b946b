//! The check that the live interpreter lays out its structures as the offsets say.
use super::offsets::{code, frame, thread};
use crate::ffi::raw::read;
use crate::ffi::release;
use crate::names::name;
use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict};
use std::ffi::c_int;
use std::mem::offset_of;

fn wrong(what: &str) -> PyErr {
    PyImportError::new_err(format!(
        "this interpreter does not lay out {what} as the CPython release that slotrt was built for; rebuild slotrt for it"
    ))
}

/// Compares what the layouts say with what the interpreter shows, on a running frame and its code.
pub(in crate::ffi) fn check(py: Python<'_>) -> PyResult<()> {
    let probe = py.eval(c"(lambda a, b=1, *c: [i for i in (a, b, c)]).__code__", None, None)?;
    let field = |name: &str| -> PyResult<c_int> { probe.getattr(name)?.extract() };
    let pairs = [
        (code::CO_FLAGS, field("co_flags")?),
        (code::CO_ARGCOUNT, field("co_argcount")?),
        (code::CO_STACKSIZE, field("co_stacksize")?),
        (code::CO_FIRSTLINENO, field("co_firstlineno")?),
        (code::CO_NLOCALSPLUS, field("co_nlocals")?),
    ];
    let base = probe.as_ptr().cast::<u8>();
    // SAFETY: every offset lies inside the fixed part of a code object, which is larger than 200 bytes.
    if pairs.into_iter().any(|(offset, value)| unsafe { read::<c_int>(base, offset) } != value) {
        return Err(wrong("PyCodeObject"));
    }
    let words = field("co_nlocals")? + field("co_stacksize")? + (frame::LOCALSPLUS / 8) as c_int;
    // SAFETY: `probe` is a code object.
    if unsafe { release::frame_size(probe.as_ptr()) } != words {
        return Err(wrong("PyCodeObject"));
    }
    let text = probe.getattr(name!("co_code"))?.cast_into::<pyo3::types::PyBytes>()?;
    // SAFETY: the code's bytes start at that offset; a code object has at least one code unit.
    let first = unsafe { read::<u8>(base, code::CO_CODE_ADAPTIVE) };
    if text.as_bytes().first() != Some(&first) {
        return Err(wrong("PyCodeObject"));
    }
    if !release::check_pending(py)? {
        return Err(wrong("PyInterpreterState"));
    }
    in_a_frame(py)
}

/// Checks the frame of a piece of Python, which calls the check: a host in C may have none of its own.
fn in_a_frame(py: Python<'_>) -> PyResult<()> {
    let locals = PyDict::new(py);
    locals.set_item("check", PyCFunction::new_closure(py, None, None, |args, _| check_frame(args.py()))?)?;
    py.eval(c"check()", Some(&locals), None).map(drop)
}

fn check_frame(py: Python<'_>) -> PyResult<()> {
    let running = py.import("sys")?.getattr(name!("_getframe"))?.call0()?;
    // SAFETY: the thread state is live; the fields' offsets lie inside it.
    unsafe {
        let state = ffi::PyThreadState_Get().cast::<u8>();
        let (top, limit): (usize, usize) = (read(state, thread::DATASTACK_TOP), read(state, thread::DATASTACK_LIMIT));
        if top > limit || top % 8 != 0 {
            return Err(wrong("PyThreadState"));
        }
    }
    // SAFETY: the frame object and, as it runs, its frame are live; the fields' offsets lie inside them.
    let (code, globals) = unsafe {
        let raw: *const u8 = read(running.as_ptr().cast(), offset_of!(release::PyFrameObject, f_frame));
        let current = release::current_frame(ffi::PyThreadState_Get().cast());
        if raw.is_null() || !(raw as usize).is_multiple_of(8) || !std::ptr::eq(raw, current) {
            return Err(wrong("PyFrameObject"));
        }
        (frame::code(raw) as usize, read::<usize>(raw, frame::F_GLOBALS))
    };
    let same = |address: usize, name: &str| PyResult::Ok(running.getattr(name)?.as_ptr() as usize == address);
    if same(code, "f_code")? && same(globals, "f_globals")? { Ok(()) } else { Err(wrong("_PyInterpreterFrame")) }
}
