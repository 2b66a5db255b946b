//! Calls by subscription, after which the interpreter handles no signals: `caller[function, *arguments]`, `follower[packet]`.
use crate::ffi::{callable, function, heirs};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Among the constants of code that hands over, and of prologues.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
pub(crate) struct Caller;

#[pymethods]
impl Caller {
    fn __getitem__<'py>(&self, call: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        function::call_items(call)
    }
}

/// The same with keywords: `caller[names, function, *arguments, *values]`.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
pub(crate) struct KeywordCaller;

#[pymethods]
impl KeywordCaller {
    fn __getitem__<'py>(&self, call: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        function::call_named(call)
    }
}

/// Gives the frame objects that wait for the running frame's variables, a tuple, or `None`.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
pub(super) struct Observers;

#[pymethods]
impl Observers {
    fn __getitem__<'py>(&self, nothing: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        heirs::of_running(nothing.py())
    }
}

/// Shows the frame objects that wait for the running frame's variables what these hold now.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
pub(super) struct Sharer;

#[pymethods]
impl Sharer {
    fn __getitem__(&self, nothing: &Bound<'_, PyAny>) {
        heirs::share(nothing.py());
    }
}

/// Gives what continues after a packet, a generator; `None` for any other object.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
pub(super) struct Follower;

#[pymethods]
impl Follower {
    fn __getitem__<'py>(&self, result: Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        if callable::is_packet(&result) { callable::follow(result).map(Some) } else { Ok(None) }
    }
}

/// Gives a callable that goes on with a packet, once, whatever it is called with.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
pub(super) struct Suspender;

#[pymethods]
impl Suspender {
    fn __getitem__<'py>(&self, packet: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        callable::suspended(packet)
    }
}
