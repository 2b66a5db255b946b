//! Where the fields of CPython's private structures lie, and the check that the live interpreter agrees.
use super::release;
use crate::names::name;
use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::c_int;
use std::mem::offset_of;

/// Offsets in `PyCodeObject`.
pub(super) mod code {
    use crate::ffi::release::PyCodeObject;
    use std::mem::offset_of;
    pub const CO_FLAGS: usize = offset_of!(PyCodeObject, co_flags);
    pub const CO_ARGCOUNT: usize = offset_of!(PyCodeObject, co_argcount);
    pub const CO_STACKSIZE: usize = offset_of!(PyCodeObject, co_stacksize);
    pub const CO_FIRSTLINENO: usize = offset_of!(PyCodeObject, co_firstlineno);
    pub const CO_NLOCALSPLUS: usize = offset_of!(PyCodeObject, co_nlocalsplus);
    pub const CO_CONSTS: usize = offset_of!(PyCodeObject, co_consts);
    pub const CO_LOCALSPLUSNAMES: usize = offset_of!(PyCodeObject, co_localsplusnames);
    pub const CO_LOCALSPLUSKINDS: usize = offset_of!(PyCodeObject, co_localspluskinds);
    pub const CO_CODE_ADAPTIVE: usize = offset_of!(PyCodeObject, co_code_adaptive);
}

/// Offsets in `_PyInterpreterFrame`.
pub(super) mod frame {
    use crate::ffi::release::_PyInterpreterFrame;
    pub(in crate::ffi) use crate::ffi::release::{F_CODE, F_FUNC, FRESH, INSTR};
    use std::mem::offset_of;
    pub const F_GLOBALS: usize = offset_of!(_PyInterpreterFrame, f_globals);
    pub const STACKTOP: usize = offset_of!(_PyInterpreterFrame, stacktop);
    pub const OWNER: usize = offset_of!(_PyInterpreterFrame, owner);
    pub const LOCALSPLUS: usize = offset_of!(_PyInterpreterFrame, localsplus);
    /// `FRAME_OWNED_BY_THREAD`.
    pub const OWNED_BY_THREAD: u8 = 0;
    /// `FRAME_OWNED_BY_GENERATOR`; others follow.
    pub const OWNED_BY_GENERATOR: u8 = 1;
}

/// Offsets in `PyThreadState`.
pub(super) mod thread {
    use crate::ffi::release::PyThreadState;
    use std::mem::offset_of;
    pub const DATASTACK_TOP: usize = offset_of!(PyThreadState, datastack_top);
    pub const DATASTACK_LIMIT: usize = offset_of!(PyThreadState, datastack_limit);
}

/// Reads a field.
///
/// # Safety
/// `base + offset` must be an aligned, initialised `T` inside a live structure.
pub(super) unsafe fn read<T: Copy>(base: *const u8, offset: usize) -> T {
    // SAFETY: as the caller promises.
    unsafe { *base.add(offset).cast::<T>() }
}

/// Writes a field.
///
/// # Safety
/// `base + offset` must be an aligned `T` inside a live structure that may be changed.
pub(super) unsafe fn write<T>(base: *mut u8, offset: usize, value: T) {
    // SAFETY: as the caller promises.
    unsafe { base.add(offset).cast::<T>().write(value) }
}

fn wrong(what: &str) -> PyErr {
    PyImportError::new_err(format!(
        "this interpreter does not lay out {what} as the CPython release that slotrt was built for; rebuild slotrt for it"
    ))
}

/// Compares what the layouts say with what the interpreter shows, on a running frame and its code.
pub(super) fn check(py: Python<'_>) -> PyResult<()> {
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
    if !release::check_waiting(py)? {
        return Err(wrong("PyInterpreterState"));
    }
    check_frame(py)
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
        (read::<usize>(raw, frame::F_CODE), read::<usize>(raw, frame::F_GLOBALS))
    };
    let same = |address: usize, name: &str| PyResult::Ok(running.getattr(name)?.as_ptr() as usize == address);
    if same(code, "f_code")? && same(globals, "f_globals")? { Ok(()) } else { Err(wrong("_PyInterpreterFrame")) }
}
