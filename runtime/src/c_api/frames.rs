//! The hook with a callback of the host's.
use super::callback::{self, Data};
use super::entry::with;
use super::error::{Failure, Outcome};
use super::lifecycle::slotrt_runtime;
use super::runtime::Runtime;
use super::status::slotrt_status::{self, *};
use super::text;
use crate::ffi::hook;
use crate::python::host::{self, Decision, Host};
use pyo3::exceptions::PyValueError;
use pyo3::ffi::PyObject;
use pyo3::prelude::*;
use std::ffi::{c_char, c_void};
use std::sync::atomic::Ordering::Relaxed;

/// What a host decides about a code object.
#[allow(non_camel_case_types)]
#[repr(i32)]
#[derive(Clone, Copy, Debug)]
pub enum slotrt_decision {
    /// Run it natively, and do not ask again.
    SLOTRT_SKIP = 0,
    /// Run this frame natively; ask again.
    SLOTRT_RUN = 1,
    /// Compile it, and do not ask again.
    SLOTRT_COMPILE = 2,
}

/// Decides about a code object whose frame is about to run for a function: one of `slotrt_decision`. Both objects are borrowed. It is
/// called with the GIL; frames that run meanwhile on the thread are left alone. Any other number, a Python exception that it leaves set,
/// or a C++ exception that leaves it: the frame runs natively, and the error goes to `sys.unraisablehook` and to `slotrt_last_error`.
#[allow(non_camel_case_types)]
pub type slotrt_frame_callback =
    Option<unsafe extern "C" fn(data: *mut c_void, code: *mut PyObject, function: *mut PyObject) -> i32>;

struct HostCallback {
    function: *const c_void,
    data: Data,
}

// SAFETY: a C function, called by threads that hold the GIL; `Data` says the rest.
unsafe impl Send for HostCallback {}
// SAFETY: as above.
unsafe impl Sync for HostCallback {}

impl Host for HostCallback {
    fn decide(&self, code: &Bound<'_, PyAny>, function: &Bound<'_, PyAny>) -> Decision {
        let args = [self.data.word(), code.as_ptr().cast(), function.as_ptr().cast(), std::ptr::null()];
        // SAFETY: the host passed it as a callback of these arguments.
        let answer = unsafe { callback::call(code.py(), self.function, args) };
        match answer.map(|answer| answer as i32) {
            Ok(0) => Decision::Skip,
            Ok(1) => Decision::Run,
            Ok(2) => Decision::Compile,
            Ok(other) => {
                let text = format!("the host's frame callback gave {other}, which is no slotrt_decision");
                callback::tell(code.py(), PyValueError::new_err(text), code);
                Decision::Run
            }
            Err(error) => {
                callback::tell(code.py(), error, code);
                Decision::Run
            }
        }
    }
}

/// Installs the evaluation hook (PEP 523) with a callback. Frames of functions are offered to it, but those that a compiled function
/// runs: these are compiled with it. Frames that are compiled use the backend of this name; NULL or `eager` runs graphs as they are.
/// `SLOTRT_OCCUPIED` if slotrt's hook is installed already. Hooks of others stay below. `data` and the function must stay valid until the
/// interpreter ends: frames that run now finish under the hook. The GIL must be held.
///
/// # Safety
/// `backend` is NULL or a text that ends with NUL; `callback` may be called as its type says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotrt_hook_install(
    runtime: slotrt_runtime,
    callback: slotrt_frame_callback,
    data: *mut c_void,
    backend: *const c_char,
) -> slotrt_status {
    with(runtime, |py, open| {
        let callback = callback.ok_or_else(|| Failure::null("callback"))?;
        // SAFETY: as above.
        let backend = if backend.is_null() { None } else { Some(unsafe { text::given(backend, "backend") }?) };
        let backend = open.backend(py, backend)?;
        if open.hooked.load(Relaxed) {
            return Err(Failure::new(SLOTRT_OCCUPIED, "the hook of this runtime is installed already"));
        }
        let session = open.host.bind(py).getattr("session")?;
        let host = HostCallback { function: callback as *const c_void, data: Data(data) };
        host::install(py, &session, backend, host)
            .map_err(|error| Failure::new(SLOTRT_OCCUPIED, super::error::words(py, &error)))?;
        open.hooked.store(true, Relaxed);
        Ok(())
    })
}

/// Removes the hook. What was compiled is kept, but for frames of the hook runs no longer. `SLOTRT_NOT_FOUND` if this runtime has
/// installed none; `SLOTRT_OCCUPIED` if another hook was installed over it, which must be removed first. The GIL must be held.
#[unsafe(no_mangle)]
pub extern "C" fn slotrt_hook_remove(runtime: slotrt_runtime) -> slotrt_status {
    with(runtime, |py, open| {
        if !open.hooked.load(Relaxed) {
            return Err(Failure::new(SLOTRT_NOT_FOUND, "this runtime has installed no hook"));
        }
        remove(py, open)
    })
}

/// Removes the hook of a runtime, if it has one.
pub(super) fn remove(py: Python<'_>, open: &Runtime) -> Outcome<()> {
    if !open.hooked.load(Relaxed) {
        return Ok(());
    }
    host::uninstall(py).map_err(|error| Failure::new(SLOTRT_OCCUPIED, super::error::words(py, &error)))?;
    open.hooked.store(false, Relaxed);
    Ok(())
}

/// Removes the hook at the end of the interpreter, whoever installed it.
pub(super) fn remove_any(py: Python<'_>) {
    if hook::is_installed(py) {
        // What stands over it ends with the interpreter, too.
        hook::uninstall(py).unwrap_or_else(|_| hook::forget(py));
    }
}
