//! The package `slotrt` for hosts that have none installed.
use super::error::{Failure, Outcome};
use super::status::slotrt_status::SLOTRT_OCCUPIED;
use crate::python::owner;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyModule};

const FINDER: &std::ffi::CStr =
    match std::ffi::CStr::from_bytes_with_nul(concat!(include_str!("embedded.py"), "\0").as_bytes()) {
        Ok(text) => text,
        Err(_) => c"",
    };

/// Every module of the package and its text, as the build script found them.
const TEXTS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/package.rs"));

/// For a host in Rust that embeds Python: has `import slotrt` give the package of this library. An error if another copy was imported.
pub fn provide(py: Python<'_>) -> PyResult<()> {
    install(py).map_err(|failure| PyRuntimeError::new_err(failure.text))
}

/// Has `import slotrt` give the package of this copy.
pub(super) fn install(py: Python<'_>) -> Outcome<()> {
    match owner::owner(py)? {
        Some(owner) if owner == owner::this() => return Ok(()),
        Some(_) => {
            let text =
                "another copy of slotrt's library serves this interpreter: `import slotrt` came before slotrt_open";
            return Err(Failure::new(SLOTRT_OCCUPIED, text));
        }
        None => {}
    }
    // Made when it is imported, from a Python frame, as by any other import.
    let native = PyCFunction::new_closure(py, None, None, |args, _| pyo3::wrap_pymodule!(crate::native)(args.py()))?;
    crate::ffi::hook::check(py)?;
    let texts = PyDict::new(py);
    for (name, text) in TEXTS {
        texts.set_item(name, text)?;
    }
    let finder = PyModule::from_code(py, FINDER, c"<libslotrt>/embedded.py", c"_slotrt_embedded")?;
    finder.call_method1("install", (native, texts))?;
    Ok(())
}

/// The host's half of the package.
pub(super) fn host(py: Python<'_>) -> Outcome<Py<PyAny>> {
    Ok(crate::ffi::modules::import(py, "slotrt._host")?.call_method0("Host")?.unbind())
}
