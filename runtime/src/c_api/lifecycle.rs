//! Versions; opening and closing.
use super::entry::{enter, fill, with};
use super::error::Failure;
use super::runtime::{self, Runtime, slotrt_runtime};
use super::status::slotrt_status::{self, *};
use super::{frames, package};
use pyo3::prelude::*;
use pyo3::types::PyCFunction;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The version of this header: the major version in the upper 16 bits, which changes where a program must be compiled again.
pub const SLOTRT_API_VERSION: u32 = 0x0001_0000;

/// Whether an interpreter that was served has ended: what is kept of it is gone, and another one cannot be served.
static ENDED: AtomicBool = AtomicBool::new(false);

/// The version of the library.
#[unsafe(no_mangle)]
pub extern "C" fn slotrt_api_version() -> u32 {
    SLOTRT_API_VERSION
}

/// Opens a runtime for the interpreter that the thread runs in. Pass `SLOTRT_API_VERSION`: a library serves programs that were compiled
/// against the same major and the same or an earlier minor version. Any number of runtimes may be open; each has its own settings,
/// counters and log. `import slotrt` gives the package of this library from now on. One interpreter of a process is served: another one
/// is refused, and so is one that begins after the first has ended. `SLOTRT_OCCUPIED` if another copy of the library is in use: by
/// `import slotrt` from a wheel, or by another host. The GIL must be held.
///
/// # Safety
/// `out` is NULL or points to memory for the handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotrt_open(version: u32, out: *mut slotrt_runtime) -> slotrt_status {
    enter(|py, interpreter| {
        let (major, minor) = (version >> 16, version & 0xFFFF);
        if major != SLOTRT_API_VERSION >> 16 || minor > SLOTRT_API_VERSION & 0xFFFF {
            let text = format!(
                "the host wants version {major}.{minor}, this library has {}.{}",
                SLOTRT_API_VERSION >> 16,
                SLOTRT_API_VERSION & 0xFFFF
            );
            return Err(Failure::new(SLOTRT_WRONG_VERSION, text));
        }
        let running = py.version_info();
        let built = (3, MINOR);
        if (running.major, running.minor) != built {
            let text = format!("this library is for CPython 3.{}, not {}.{}", built.1, running.major, running.minor);
            return Err(Failure::new(SLOTRT_OTHER_RELEASE, text));
        }
        if interpreter != 0 {
            let text = "the thread runs in an interpreter that Py_NewInterpreter made; slotrt serves the main one";
            return Err(Failure::new(SLOTRT_OTHER_INTERPRETER, text));
        }
        if ENDED.load(Relaxed) {
            let text = "the interpreter that this library served has ended; a process is served once";
            return Err(Failure::new(SLOTRT_NO_INTERPRETER, text));
        }
        // SAFETY: as above.
        unsafe {
            fill(out, "out", || {
                package::install(py)?;
                let host = package::host(py)?;
                close_at_exit(py)?;
                let (backends, hooked) = (Mutex::default(), AtomicBool::new(false));
                Ok(runtime::keep(Runtime { interpreter, host, backends, hooked }))
            })
        }
    })
}

/// The minor version of the CPython that the library is built for.
const MINOR: u8 = match u8::from_str_radix(env!("SLOTRT_MINOR"), 10) {
    Ok(minor) => minor,
    Err(_) => 0,
};

/// Has every runtime closed before the interpreter ends.
fn close_at_exit(py: Python<'_>) -> PyResult<()> {
    static REGISTERED: AtomicBool = AtomicBool::new(false);
    if REGISTERED.swap(true, Relaxed) {
        return Ok(());
    }
    let end = PyCFunction::new_closure(py, Some(c"slotrt_close"), None, |args, _| {
        ENDED.store(true, Relaxed);
        frames::remove_any(args.py());
        runtime::forget_all();
    })?;
    crate::ffi::modules::import(py, "atexit")?.call_method1("register", (end,)).map(drop)
}

/// Closes a runtime: its hook is removed, its handle is no longer valid. What was compiled goes on running. At the end of the interpreter
/// every runtime is closed. The GIL must be held.
#[unsafe(no_mangle)]
pub extern "C" fn slotrt_close(runtime: slotrt_runtime) -> slotrt_status {
    with(runtime, |py, open| {
        let removed = frames::remove(py, open);
        runtime::forget(runtime);
        removed
    })
}
