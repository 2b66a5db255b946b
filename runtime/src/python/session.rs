//! What `compile` shares among functions: options, counters, and, for `explain`, a record of every trace.
use super::compiled::Compiled;
use super::family::Family;
use super::nested;
use super::record::Frame;
use crate::ffi::snapshot::original;
use crate::ffi::{callable, types};
use crate::names::name;
use crate::split::TransferConstants;
use crate::trace::Lasting;
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction, PyList};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// How functions are compiled.
#[derive(Debug)]
pub struct Options {
    /// Called with graph and example inputs; `None` runs the graph as it is.
    pub backend: Option<Py<PyAny>>,
    /// A graph break is an error.
    pub fullgraph: bool,
}

/// Numbers that `slotrt.stats()` shows.
#[derive(Debug, Default)]
pub struct Counters {
    /// Frames traced and emitted.
    pub frames_compiled: AtomicU64,
    /// Frames that run as they are.
    pub frames_skipped: AtomicU64,
    /// Traces that ended in a graph break.
    pub graph_breaks: AtomicU64,
    /// Calls whose guards found compiled code.
    pub cache_hits: AtomicU64,
    /// Frames compiled again because no guard set held.
    pub recompiles: AtomicU64,
    /// Graphs handed to a backend.
    pub graphs: AtomicU64,
    /// Instructions that traces executed.
    pub instructions: AtomicU64,
    /// Instructions that were executed once more, because a trace had to end before where it broke.
    pub repeated: AtomicU64,
    /// Nanoseconds spent in tracing.
    pub trace_ns: AtomicU64,
    /// Nanoseconds spent in emitting code, backends included.
    pub emit_ns: AtomicU64,
}

impl Counters {
    fn named(&self) -> [(&'static str, &AtomicU64); 10] {
        [
            ("frames_compiled", &self.frames_compiled),
            ("frames_skipped", &self.frames_skipped),
            ("graph_breaks", &self.graph_breaks),
            ("cache_hits", &self.cache_hits),
            ("recompiles", &self.recompiles),
            ("graphs", &self.graphs),
            ("instructions", &self.instructions),
            ("repeated", &self.repeated),
            ("trace_ns", &self.trace_ns),
            ("emit_ns", &self.emit_ns),
        ]
    }
}

/// The part of a session that compiled functions hold on to.
#[derive(Debug)]
pub struct Shared {
    pub(super) counters: Counters,
    /// Raised by `reset`: compiled code of an earlier generation is forgotten.
    pub(super) generation: AtomicU64,
    pub(super) constants: TransferConstants,
    pub(super) lasting: Arc<Lasting>,
    pub(super) frames: Option<Mutex<Vec<Frame>>>,
    /// Called with the record of every frame as a dict.
    pub(super) log: Option<Py<PyAny>>,
    /// Where every trace ends, whatever the program does.
    pub(super) stop_at: Option<u64>,
}

impl Shared {
    /// Adds one to a counter.
    pub fn count(&self, counter: impl Fn(&Counters) -> &AtomicU64) {
        self.add(counter, 1);
    }

    /// Adds to a counter.
    pub fn add(&self, counter: impl Fn(&Counters) -> &AtomicU64, number: u64) {
        counter(&self.counters).fetch_add(number, Relaxed);
    }

    /// Keeps a record where the session is one of `explain`; tells the log.
    pub fn record(&self, py: Python<'_>, frame: Frame) {
        if let Some(log) = &self.log {
            let told = frame.to_dict(py).and_then(|dict| log.bind(py).call1((dict,)));
            if let Err(error) = told {
                error.write_unraisable(py, Some(log.bind(py)));
            }
        }
        if let Some(frames) = &self.frames
            && let Ok(mut frames) = frames.lock()
        {
            frames.push(frame);
        }
    }

    /// Whether records are wanted.
    pub fn records(&self) -> bool {
        self.frames.is_some() || self.log.is_some()
    }
}

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
                lasting: Lasting::shared(py),
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
        let family = Family::new(Arc::clone(&self.shared), options, &plain);
        callable::new(&plain, Box::new(Compiled::root(family)), false)
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
        nested::forget(py)
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
