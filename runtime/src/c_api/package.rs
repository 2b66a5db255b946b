//! The package `slotrt` for hosts that have none installed, and the one copy of the library that serves an interpreter.
use super::error::{Failure, Outcome};
use super::status::slotrt_status::SLOTRT_OCCUPIED;
use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyModule};

const FINDER: &std::ffi::CStr =
    match std::ffi::CStr::from_bytes_with_nul(concat!(include_str!("embedded.py"), "\0").as_bytes()) {
        Ok(text) => text,
        Err(_) => c"",
    };

macro_rules! python {
    ($($module:literal: $file:literal,)*) => {
        &[$(($module, include_str!(concat!("../../python/slotrt/", $file)))),*]
    };
}

/// Every module of the package and its text.
const TEXTS: &[(&str, &str)] = python! {
    "slotrt": "__init__.py",
    "slotrt._api": "_api.py",
    "slotrt._backends": "_backends.py",
    "slotrt._callables": "_callables.py",
    "slotrt._decimals": "_decimals.py",
    "slotrt._explain": "_explain.py",
    "slotrt._fx": "_fx.py",
    "slotrt._host": "_host.py",
    "slotrt._log": "_log.py",
    "slotrt._report": "_report.py",
    "slotrt._wrappers": "_wrappers.py",
};

/// Under which name `sys` tells which copy of the library serves the interpreter.
const OWNER: &str = "_slotrt_library";

/// Tells copies of the library apart.
static THIS: u8 = 0;

fn this() -> usize {
    &raw const THIS as usize
}

/// The copy that serves the interpreter, if there is one.
fn owner(py: Python<'_>) -> PyResult<Option<usize>> {
    py.import("sys")?.getattr_opt(OWNER)?.map(|owner| owner.extract()).transpose()
}

/// The module belongs to this copy of the library; another copy in the process is refused.
pub(crate) fn claim(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    if owner(py)?.is_some_and(|owner| owner != this()) {
        return Err(PyImportError::new_err(
            "another copy of slotrt's library serves this interpreter already: import slotrt before a host opens its own, or let the host's be the only one",
        ));
    }
    py.import("sys")?.setattr(OWNER, this())
}

/// Has `import slotrt` give the package of this copy.
pub(super) fn provide(py: Python<'_>) -> Outcome<()> {
    match owner(py)? {
        Some(owner) if owner == this() => return Ok(()),
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
    Ok(py.import("slotrt._host")?.call_method0("Host")?.unbind())
}
