//! What tracing adds to the native module `slotrt._slotrt`.
use super::errors::{GraphBreak, TraceFileError};
use super::session::Session;
use super::shape_rules::ShapeRules;
use super::trace_files::load::LoadedTraces;
use crate::emit::WrongGuess;
use crate::ffi::callable;
use crate::graph::{PyGraph, PyNode};
use pyo3::prelude::*;

/// Adds what tracing offers to the native module.
pub fn fill(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add_class::<Session>()?;
    module.add_class::<ShapeRules>()?;
    module.add_class::<PyGraph>()?;
    module.add_class::<PyNode>()?;
    module.add_class::<LoadedTraces>()?;
    module.add("TraceFileError", py.get_type::<TraceFileError>())?;
    module.add("GraphBreak", py.get_type::<GraphBreak>())?;
    module.add("WrongGuess", py.get_type::<WrongGuess>())?;
    module.add_function(wrap_pyfunction!(graph_break, module)?)?;
    module.add_function(wrap_pyfunction!(is_compiling, module)?)?;
    module.add("CompiledFunction", callable::class(py)?)?;
    module.add_function(wrap_pyfunction!(native_call, module)?)?;
    module.add_function(wrap_pyfunction!(watched, module)?)?;
    module.add("_add_traceback", wrap_pyfunction!(crate::ffi::traceback::add_traceback, module)?)
}

/// How many dicts, classes and functions are watched for compiled code; `None` for what no watcher was needed or free for.
#[pyfunction]
#[pyo3(name = "_watched")]
fn watched() -> [Option<usize>; 3] {
    crate::ffi::watch::counts()
}

/// Forces a graph break where compiled code calls it; does nothing elsewhere.
#[pyfunction]
fn graph_break() {}

/// Whether the code that calls it is traced: `True` in compiled code, `False` in code that runs natively.
#[pyfunction]
fn is_compiling() -> bool {
    false
}

/// A callable that calls another one natively, with all that it calls.
#[pyfunction]
fn native_call<'py>(target: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    callable::native_call(target)
}
