//! The Python API: the native module `slotrt._slotrt`.
mod compiled;
mod describe;
mod errors;
mod family;
mod nested;
mod record;
mod session;

use crate::ffi::callable::InternalError;
use crate::graph::python::{PyGraph, PyNode};
use pyo3::prelude::*;

pub(crate) use errors::GraphBreak;

/// Fills the native module.
pub fn fill(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add_class::<session::Session>()?;
    module.add_class::<PyGraph>()?;
    module.add_class::<PyNode>()?;
    module.add("GraphBreak", py.get_type::<GraphBreak>())?;
    module.add("InternalError", py.get_type::<InternalError>())?;
    module.add_function(wrap_pyfunction!(graph_break, module)?)?;
    module.add("_add_traceback", wrap_pyfunction!(crate::ffi::traceback::add_traceback, module)?)?;
    module.add("TRACES", true)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    submodule(module, "protocol", crate::live::protocol::module(py)?)?;
    submodule(module, "bytecode", crate::bytecode::python::module(py)?)?;
    submodule(module, "hook", crate::ffi::python::module(py)?)
}

/// Adds a submodule that `import slotrt.NAME` finds.
fn submodule<'py>(module: &Bound<'py, PyModule>, name: &str, made: Bound<'py, PyModule>) -> PyResult<()> {
    let modules = module.py().import("sys")?.getattr("modules")?;
    modules.set_item(format!("slotrt.{name}"), &made)?;
    module.add(name, made)
}

/// Forces a graph break where compiled code calls it; does nothing elsewhere.
#[pyfunction]
fn graph_break() {}
