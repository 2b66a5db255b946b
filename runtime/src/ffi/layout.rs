//! Where the fields of CPython's private structures lie, and the check that the live interpreter agrees.
use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::c_int;

/// Offsets in `PyCodeObject`.
pub(super) mod code {
    pub const CO_FLAGS: usize = 48;
    pub const CO_ARGCOUNT: usize = 52;
    pub const CO_STACKSIZE: usize = 64;
    pub const CO_FIRSTLINENO: usize = 68;
    pub const CO_NLOCALSPLUS: usize = 72;
    pub const CO_FRAMESIZE: usize = 76;
    pub const CO_CODE_ADAPTIVE: usize = 200;
}

/// Offsets in `_PyInterpreterFrame`.
pub(super) mod frame {
    pub const F_EXECUTABLE: usize = 0;
    pub const F_FUNCOBJ: usize = 16;
    pub const INSTR_PTR: usize = 56;
    pub const STACKTOP: usize = 64;
    pub const OWNER: usize = 70;
    pub const LOCALSPLUS: usize = 72;
    /// `FRAME_OWNED_BY_THREAD`.
    pub const OWNED_BY_THREAD: u8 = 0;
}

/// Offsets in `PyThreadState`.
pub(super) mod thread {
    pub const CURRENT_FRAME: usize = 72;
    pub const DATASTACK_TOP: usize = 240;
    pub const DATASTACK_LIMIT: usize = 248;
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
        (code::CO_FRAMESIZE, field("co_nlocals")? + field("co_stacksize")? + (frame::LOCALSPLUS / 8) as c_int),
    ];
    let base = probe.as_ptr().cast::<u8>();
    // SAFETY: every offset lies inside the fixed part of a code object, which is larger than 200 bytes.
    if pairs.into_iter().any(|(offset, value)| unsafe { read::<c_int>(base, offset) } != value) {
        return Err(wrong("PyCodeObject"));
    }
    let text = probe.getattr("co_code")?.cast_into::<pyo3::types::PyBytes>()?;
    // SAFETY: the code's bytes start at that offset; a code object has at least one code unit.
    let first = unsafe { read::<u8>(base, code::CO_CODE_ADAPTIVE) };
    if text.as_bytes().first() != Some(&first) {
        return Err(wrong("PyCodeObject"));
    }
    check_frame(py)
}

fn check_frame(py: Python<'_>) -> PyResult<()> {
    let running = py.import("sys")?.getattr("_getframe")?.call0()?.getattr("f_code")?;
    // SAFETY: the thread state is live; the fields' offsets lie inside it, and inside its current frame.
    let executable = unsafe {
        let state = ffi::PyThreadState_Get().cast::<u8>();
        let (top, limit): (usize, usize) = (read(state, thread::DATASTACK_TOP), read(state, thread::DATASTACK_LIMIT));
        let current: *const u8 = read(state, thread::CURRENT_FRAME);
        if top > limit || top % 8 != 0 || current.is_null() || (current as usize) % 8 != 0 {
            return Err(wrong("PyThreadState"));
        }
        read::<usize>(current, frame::F_EXECUTABLE)
    };
    if executable == running.as_ptr() as usize { Ok(()) } else { Err(wrong("_PyInterpreterFrame")) }
}
