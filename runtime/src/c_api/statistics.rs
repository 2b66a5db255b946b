//! Counters and the log.
use super::callback::{self, Data};
use super::entry::{fill, with};
use super::error::Failure;
use super::lifecycle::slotrt_runtime;
use super::status::slotrt_status::{self, *};
use super::text;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict};
use std::ffi::{c_char, c_void};

/// A counter of a runtime, since it was opened or reset: `frames_compiled`, `frames_skipped`, `graph_breaks`, `cache_hits`, `recompiles`,
/// `graphs`, `instructions`, `repeated`, `trace_ns`, `emit_ns`. The GIL must be held.
///
/// # Safety
/// `name` is NULL or a text that ends with NUL; `out` is NULL or points to memory for the number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotrt_counter(runtime: slotrt_runtime, name: *const c_char, out: *mut u64) -> slotrt_status {
    with(runtime, |py, open| {
        // SAFETY: as above.
        unsafe {
            let name = text::given(name, "name")?;
            fill(out, "out", || {
                let stats = open.host.bind(py).getattr("session")?.call_method0("stats")?;
                let stats = stats.cast_into::<PyDict>().map_err(PyErr::from)?;
                let known = || stats.keys().to_string();
                let found = stats.get_item(name)?;
                let text = || format!("no counter `{name}`; there are {}", known());
                Ok(found.ok_or_else(|| Failure::new(SLOTRT_NOT_FOUND, text()))?.extract::<u64>()?)
            })
        }
    })
}

/// Forgets everything that the runtime has compiled, and sets its counters to zero. The GIL must be held.
#[unsafe(no_mangle)]
pub extern "C" fn slotrt_reset(runtime: slotrt_runtime) -> slotrt_status {
    with(runtime, |py, open| {
        open.host.bind(py).getattr("session")?.call_method0("reset")?;
        Ok(())
    })
}

/// Gets the record of each frame that is traced, a JSON object: name, graph, guards, break. The text is valid during the call.
#[allow(non_camel_case_types)]
pub type slotrt_log_callback = Option<unsafe extern "C" fn(data: *mut c_void, json: *const c_char)>;

/// Sets the log of what is compiled from now on; NULL for none. Counters begin anew. It must be set before the hook is installed. `data`
/// and the function must stay valid until the interpreter ends. An exception that leaves the callback goes to `sys.unraisablehook` and to
/// `slotrt_last_error`. The GIL must be held.
///
/// # Safety
/// `callback` is NULL, or may be called as its type says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotrt_log(
    runtime: slotrt_runtime,
    callback: slotrt_log_callback,
    data: *mut c_void,
) -> slotrt_status {
    with(runtime, |py, open| {
        if open.hooked.load(std::sync::atomic::Ordering::Relaxed) {
            return Err(Failure::new(SLOTRT_OCCUPIED, "the hook is installed: set the log before that"));
        }
        let log = match callback {
            None => py.None(),
            Some(callback) => {
                let (address, data) = (callback as usize, Data(data));
                let made = PyCFunction::new_closure(py, None, None, move |args, _| {
                    let record = args.get_item(0)?;
                    let words = [data.word(), text::of(&record).cast(), std::ptr::null(), std::ptr::null()];
                    // SAFETY: the host passed it as a callback of these arguments.
                    if let Err(error) = unsafe { callback::call(args.py(), address as *const c_void, words) } {
                        callback::tell(args.py(), error, &record);
                    }
                    PyResult::Ok(())
                })?;
                made.into_any().unbind()
            }
        };
        open.host.bind(py).call_method1("set_log", (log,))?;
        Ok(())
    })
}
