//! `slotrt._slotrt.Session`: compiles functions and counts.
use super::compiled::Compiled;
use super::nested;
use super::shared::{Counters, Options, Shared};
use super::unit::CompilationUnit;
use crate::ffi::snapshot::original;
use crate::ffi::{callable, types};
use crate::names::name;
use crate::split::TransferConstants;
use crate::trace::SharedCaches;
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction, PyList};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// Compiles functions and counts. The package has one; each `explain` has its own.
#[pyclass(name = "Session", module = "slotrt._slotrt", frozen)]
#[derive(Debug)]
pub struct Session {
    shared: Arc<Shared>,
}

#[pymethods]
impl Session {
    #[new]
    #[pyo3(signature = (*, record = false, log = None, stop_at = None))]
    fn new(py: Python<'_>, record: bool, log: Option<Py<PyAny>>, stop_at: Option<u64>) -> PyResult<Self> {
        let frames = record.then(Mutex::default);
        let (counters, generation) = (Counters::default(), AtomicU64::new(0));
        Ok(Self {
            shared: Arc::new(Shared {
                counters,
                generation,
                constants: TransferConstants::new(py)?,
                trace_caches: SharedCaches::shared(py),
                frames,
                log,
                stop_at,
            }),
        })
    }

    /// The callable that traces `function` on its first call; of a bound method, or of an object whose class has a `__call__` in Python,
    /// the function behind it.
    #[pyo3(signature = (function, backend, fullgraph))]
    fn compile<'py>(
        &self,
        function: &Bound<'py, PyAny>,
        backend: Option<Py<PyAny>>,
        fullgraph: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Some((called, receiver)) = bound(function) {
            let compiled = self.compile(&called, backend, fullgraph)?;
            return original(function.py(), "types", "MethodType")?.call1((compiled, receiver));
        }
        let plain = callable::wrapped(function).unwrap_or_else(|| function.clone());
        if !plain.is_instance_of::<PyFunction>() {
            let kind = plain.get_type().qualname()?;
            return Err(PyTypeError::new_err(format!("slotrt.compile takes a Python function, not {kind}")));
        }
        let options = Options { backend, fullgraph };
        let unit = CompilationUnit::new(Arc::clone(&self.shared), options, &plain);
        callable::new(&plain, Box::new(Compiled::root(unit)), false)
    }

    /// The counters by name.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stats = PyDict::new(py);
        for (name, counter) in self.shared.counters.named() {
            stats.set_item(name, counter.load(Relaxed))?;
        }
        Ok(stats)
    }

    /// Forgets everything compiled and counted.
    fn reset(&self, py: Python<'_>) -> PyResult<()> {
        self.shared.generation.fetch_add(1, Relaxed);
        for (_, counter) in self.shared.counters.named() {
            counter.store(0, Relaxed);
        }
        nested::reset(py)
    }

    /// What was recorded, in order of compilation, as plain Python data.
    fn frames<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        let Some(frames) = &self.shared.frames else { return Ok(list) };
        let frames = frames.lock().map(|mut frames| std::mem::take(&mut *frames)).unwrap_or_default();
        for frame in frames {
            list.append(frame.to_dict(py)?)?;
        }
        Ok(list)
    }
}

/// The function that runs when a bound method, or an object whose class has a `__call__` in Python, is called, and what it gets first.
fn bound<'py>(called: &Bound<'py, PyAny>) -> Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let class = called.get_type();
    if types::c_name(&class) == "method" {
        return Some((called.getattr(name!("__func__")).ok()?, called.getattr(name!("__self__")).ok()?));
    }
    let call = types::lookup(&class, intern!(called.py(), "__call__"))?;
    call.is_instance_of::<PyFunction>().then(|| (call, called.clone()))
}
