//! Hooks CPython frames, traces bytecode with the generated object model, emits graphs, guards and new bytecode.
#[cfg(slotrt_bytecode)]
pub mod bytecode;
#[cfg(slotrt_supported)]
pub mod domain;
#[cfg(slotrt_supported)]
pub mod emit;
#[cfg(slotrt_supported)]
pub mod ffi;
#[cfg(slotrt_supported)]
pub mod graph;
#[cfg(slotrt_supported)]
pub mod guard;
#[cfg(slotrt_supported)]
pub mod live;
#[cfg(slotrt_supported)]
mod python;
#[cfg(slotrt_supported)]
pub mod trace;

use pyo3::prelude::*;

/// The native half of the package `slotrt`.
#[pymodule]
#[pyo3(name = "_slotrt")]
fn native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    fill(module)
}

#[cfg(slotrt_supported)]
fn fill(module: &Bound<'_, PyModule>) -> PyResult<()> {
    ffi::hook::check(module.py())?;
    python::fill(module)
}

/// A release that is not traced: its code objects are read and written, no more.
#[cfg(all(slotrt_bytecode, not(slotrt_supported)))]
fn fill(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("TRACES", false)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    let made = bytecode::python::module(module.py())?;
    module.py().import("sys")?.getattr("modules")?.set_item("slotrt.bytecode", &made)?;
    module.add("bytecode", made)
}

/// An interpreter that there are no tables for: the module builds, and refuses in words.
#[cfg(not(slotrt_bytecode))]
fn fill(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let version = module.py().version_info();
    let text = format!(
        "slotrt traces CPython 3.13 and reads code objects of 3.11 to 3.15; this interpreter is {}.{}.{}. Install slotrt into a CPython 3.13 environment.",
        version.major, version.minor, version.patch
    );
    Err(pyo3::exceptions::PyImportError::new_err(text))
}
