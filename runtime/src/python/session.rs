//! `slotrt._slotrt.Session`: compiles functions and counts.
use super::compiled::Compiled;
use super::frontend::Frontend;
use super::made_anew::{MadeAnew, SharedDispatch};
use super::nested;
use super::shared::{Counters, Options, Shared, Stances};
use super::trace_files::load::LoadedTraces;
use super::trace_files::save;
use super::trace_store::KeptTraces;
use super::unit::CompilationUnit;
use crate::ffi::callable;
use crate::split::TransferConstants;
use crate::trace::SharedCaches;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::any::Any;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// Compiles functions and counts. The package has one; each `explain` has its own.
#[pyclass(name = "Session", module = "slotrt._slotrt", frozen)]
#[derive(Debug)]
pub struct Session {
    pub(super) shared: Arc<Shared>,
    made_anew: Mutex<MadeAnew>,
}

/// Backend, `fullgraph`, `dynamic` and `recompile_limit`.
type Chosen<'py> = (Option<Bound<'py, PyAny>>, bool, Option<bool>, Option<usize>);

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
                stance: Stances::default(),
                frontend: Frontend::default(),
                constants: TransferConstants::new(py)?,
                trace_caches: SharedCaches::shared(py)?,
                frames,
                log,
                stop_at,
                roots: Mutex::default(),
                kept: KeptTraces::default(),
                stores: Mutex::default(),
            }),
            made_anew: Mutex::default(),
        })
    }

    /// The callable that traces a Python function on its first call.
    ///
    /// `forwarder`: the function only passes calls on to another callable.
    #[pyo3(signature = (function, backend, fullgraph, forwarder = false, dynamic = None, recompile_limit = None))]
    fn compile<'py>(
        &self,
        function: &Bound<'py, PyAny>,
        backend: Option<Py<PyAny>>,
        fullgraph: bool,
        forwarder: bool,
        dynamic: Option<bool>,
        recompile_limit: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut options = Options { backend, fullgraph, dynamic, recompile_limit };
        // What is dropped or made meanwhile may run code that compiles.
        if !forwarder && let Ok(mut made_anew) = self.made_anew.try_lock() {
            options = match made_anew.dispatcher(&self.shared, options, function)? {
                Ok(dispatch) => {
                    drop(made_anew);
                    return callable::new(function, Box::new(dispatch), false);
                }
                Err(options) => options,
            };
        }
        let unit = CompilationUnit::new(Arc::clone(&self.shared), options, function);
        let compiled = if forwarder { Compiled::forwarder(unit) } else { Compiled::root(unit) };
        callable::new(function, Box::new(compiled), false)
    }

    /// `(backend, fullgraph, dynamic, recompile_limit)` of what this session has compiled; `None` for any other object.
    fn options<'py>(&self, compiled: &Bound<'py, PyAny>) -> Option<Chosen<'py>> {
        let of = callable::with_dispatch(compiled, |dispatch| {
            let dispatch: &dyn Any = dispatch;
            let own = dispatch.downcast_ref::<Compiled>();
            let unit = &own.or_else(|| Some(&*dispatch.downcast_ref::<SharedDispatch>()?.shared))?.unit;
            let unit = Arc::clone(unit);
            Arc::ptr_eq(&unit.shared, &self.shared).then_some(unit)
        });
        let options = &of??.options;
        let backend = options.backend.as_ref().map(|backend| backend.bind(compiled.py()).clone());
        Some((backend, options.fullgraph, options.dynamic, options.recompile_limit))
    }

    /// What calls of compiled functions do, by number: the default; run as they are; run as they are, or raise, where no compiled
    /// code is right; run as they are the first time.
    fn set_stance(&self, number: usize) -> PyResult<()> {
        match self.shared.stance.set(number) {
            true => Ok(()),
            false => Err(PyValueError::new_err(format!("no stance has the number {number}"))),
        }
    }

    /// Who is asked for settings before a frame is traced. `settings()` gives a dict: whether tracing is `off`, the `limit` of traces of a
    /// frame, whether a frame is to be traced `once`, and the limit is `strict`. `refuse_again(name, reasons)` and
    /// `refuse_more(name, why, strict)` raise. `strict`: for the setting, not for `fullgraph`.
    fn set_frontend(&self, asked: Option<Py<PyAny>>) {
        self.shared.frontend.set(asked);
    }

    /// The counters by name.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stats = PyDict::new(py);
        for (name, counter) in self.shared.counters.named() {
            stats.set_item(name, counter.load(Relaxed))?;
        }
        let mut totals = [0, 0];
        for domain in self.shared.trace_caches.domains.loaded(py) {
            for (_, [by_rule, asked]) in domain.metadata_counts() {
                totals = [totals[0] + by_rule, totals[1] + asked];
            }
        }
        stats.set_item("metadata_by_rule", totals[0])?;
        stats.set_item("metadata_asked", totals[1])?;
        Ok(stats)
    }

    /// For each operation of a library: how often a rule said what it gives, and how often the library was asked.
    fn metadata_counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counts = PyDict::new(py);
        for domain in self.shared.trace_caches.domains.loaded(py) {
            for (name, [by_rule, asked]) in domain.metadata_counts() {
                let count = PyDict::new(py);
                count.set_item("by_rule", by_rule)?;
                count.set_item("asked", asked)?;
                counts.set_item(name, count)?;
            }
        }
        Ok(counts)
    }

    /// The generated functions that traces have run since this was asked last, in all sessions: C file and name.
    fn entered(&self) -> Vec<(&'static str, &'static str)> {
        self.shared.trace_caches.take_entered()
    }

    /// Forgets everything compiled and counted.
    fn reset(&self, py: Python<'_>) -> PyResult<()> {
        self.shared.generation.fetch_add(1, Relaxed);
        for (_, counter) in self.shared.counters.named() {
            counter.store(0, Relaxed);
        }
        for domain in self.shared.trace_caches.domains.loaded(py) {
            domain.reset_counts();
        }
        let stores = self.shared.stores.lock().map(|mut stores| std::mem::take(&mut *stores));
        drop(stores);
        self.shared.kept.traces.lock().iter_mut().for_each(|traces| traces.clear());
        let forgotten = self.made_anew.lock().map(|mut made_anew| made_anew.take());
        drop(forgotten);
        nested::reset(py)
    }

    /// Writes what was traced to a file; gives how many traces, how many bytes, and why which were left out.
    fn save<'py>(&self, py: Python<'py>, path: PathBuf) -> PyResult<Bound<'py, PyDict>> {
        save::save(py, &self.shared, &path)
    }

    /// Has traces written as they are made, for what they are of may be gone when they are saved.
    fn keep_traces(&self) {
        self.shared.kept.keeps.store(true, Relaxed);
    }

    /// Reads what an earlier process has saved.
    fn load(&self, py: Python<'_>, path: PathBuf) -> PyResult<LoadedTraces> {
        LoadedTraces::read(py, &self.shared, &path)
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
