//! `slotrt.load`: what an earlier process has saved; and how a call finds a trace there.
use super::own_objects::OwnObjects;
use super::save::{environment, hashes};
use crate::emit::function_like;
use crate::ffi::callable::Choice;
use crate::ffi::collector::Pause;
use crate::ffi::{Args, inspect, root};
use crate::guard::Program;
use crate::python::cache::Entry;
use crate::python::compiled::Compiled;
use crate::python::dispatch::poisoned;
use crate::python::errors::refused_file;
use crate::python::shared::Shared;
use crate::python::trace_store::{Settings, StoredTrace, TraceStore, version};
use crate::split::root_of;
use crate::stored::{FileError, In, Misfit, code_digest, read_code, read_file};
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// What `slotrt.load` has read: how many traces, how many of them calls have found right so far, and why which do not fit.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
pub struct LoadedTraces(Arc<TraceStore>);

#[pymethods]
impl LoadedTraces {
    /// How many traces the file has.
    #[getter]
    fn traces(&self) -> usize {
        self.0.len()
    }

    /// How many of them calls have found right so far.
    #[getter]
    fn used(&self) -> usize {
        self.0.used()
    }

    /// Why traces that calls have asked for do not fit this process, and how many of them.
    #[getter]
    fn unfit(&self) -> BTreeMap<String, u64> {
        self.0.unfit()
    }

    fn __repr__(&self) -> String {
        format!("<slotrt.LoadedTraces: {} traces, {} used>", self.0.len(), self.0.used())
    }
}

/// Why a trace cannot be read.
enum Unread {
    /// It does not fit.
    Unfit(Misfit),
    /// It names objects of this module, which nobody has imported so far.
    Early(String),
}

impl From<Misfit> for Unread {
    fn from(misfit: Misfit) -> Self {
        Self::Unfit(misfit)
    }
}

impl LoadedTraces {
    /// Reads a file, and keeps what it has for calls of functions of the session.
    pub fn read(py: Python<'_>, shared: &Shared, path: &Path) -> PyResult<Self> {
        let (then, content) = py.detach(|| read_file(path)).map_err(|error| refused_file(&error))?;
        let now = environment(py)?;
        let other = |what: &str, then: &str, now: &str| {
            let (what, then, now) = (what.to_owned(), then.to_owned(), now.to_owned());
            refused_file(&FileError::Other { path: path.to_owned(), what, then, now })
        };
        for (what, then, now) in
            [("the interpreter", &then.interpreter, &now.interpreter), ("slotrt", &then.slotrt, &now.slotrt)]
        {
            if then != now {
                return Err(other(what, then, now));
            }
        }
        for (name, then) in &then.libraries {
            if let Some(now) = version(py, name).filter(|now| now != then) {
                return Err(other(&format!("a process with {name}"), then, &now));
            }
        }
        let store = TraceStore::new(then, content, hashes(py)).map_err(|_| {
            refused_file(&FileError::Damaged { path: path.to_owned(), what: "its traces do not fit together" })
        })?;
        let store = Arc::new(store);
        shared.stores.lock().map_err(|_| poisoned())?.push(Arc::clone(&store));
        Ok(Self(store))
    }
}

impl Compiled {
    /// What an earlier process has made for such a call.
    pub(in crate::python) fn loaded<'py>(
        &self,
        function: &Bound<'py, PyAny>,
        args: Args<'_, 'py>,
    ) -> PyResult<Option<Choice>> {
        let unit = &self.unit;
        let stores = unit.shared.stores();
        if stores.is_empty() || self.resumed.is_some() || unit.options.backend.is_some() || !self.has_room()? {
            return Ok(None);
        }
        let Some(code) = inspect::function_code(function) else { return Ok(None) };
        let digest = code_digest(&code)?;
        let settings = Settings { fullgraph: unit.options.fullgraph, dynamic: unit.options.dynamic };
        let mut absent = None;
        for store in &stores {
            for trace in store.candidates(digest, settings) {
                if self.cache.lock().map_err(|_| poisoned())?.loaded.contains(&trace.number) {
                    continue;
                }
                match self.read(store, trace, function, &code) {
                    Ok((guards, run)) if guards.check(args, function).is_ok() => {
                        return self.take(trace, guards, run, &code).map(Some);
                    }
                    Ok(_) => {}
                    Err(Unread::Early(module)) if store.waits(trace) => absent = Some(module),
                    Err(Unread::Early(module)) => store.refuse(trace, &Misfit(format!("{module} is not there"))),
                    Err(Unread::Unfit(misfit)) => store.refuse(trace, &misfit),
                }
            }
        }
        absent.map(|module| self.run_before(function, &module)).transpose()
    }

    /// A call that is the first to import a module, perhaps: plain code does so in the right place, and the next call finds the trace.
    fn run_before(&self, function: &Bound<'_, PyAny>, module: &str) -> PyResult<Choice> {
        if self.unit.shared.records() {
            let reason =
                format!("a loaded trace names objects of {module}, which nobody has imported so far: this call may");
            self.record_skipped(function, &reason, Vec::new())?;
        }
        Ok(Choice::Original)
    }

    fn read<'py>(
        &self,
        store: &TraceStore,
        trace: &StoredTrace,
        function: &Bound<'py, PyAny>,
        code: &Bound<'py, PyAny>,
    ) -> Result<(Program, Bound<'py, PyAny>), Unread> {
        let (py, shared) = (function.py(), &self.unit.shared);
        // All that is read stays.
        let _pause = Pause::new(py);
        let bytes = store.bytes(trace, py)?;
        let domains = shared.trace_caches.domains.loaded(py);
        let ours = OwnObjects::new(py, &shared.constants, domains, Some(function.clone()));
        let mut fingerprints =
            store.fingerprints.lock().map(|mut known| std::mem::take(&mut *known)).unwrap_or_default();
        let mut from = In::new(bytes, code.clone(), &mut fingerprints, &ours);
        let checks = |name: &str, state: &Bound<'_, PyAny>| ours.check_of(name, state);
        let read: Result<_, Misfit> =
            Program::read(&mut from, &checks).and_then(|guards| Ok((guards, read_code(&mut from)?)));
        let absent = from.absent.take();
        if let Ok(mut known) = store.fingerprints.lock() {
            *known = fingerprints;
        }
        let (guards, made) = read.map_err(|misfit| absent.map_or(Unread::Unfit(misfit), Unread::Early))?;
        root::keep(&made, &root_of(code)).map_err(Misfit::from)?;
        Ok((guards, function_like(&made, function).map_err(Misfit::from)?))
    }

    fn take(
        &self,
        trace: &StoredTrace,
        guards: Program,
        run: Bound<'_, PyAny>,
        code: &Bound<'_, PyAny>,
    ) -> PyResult<Choice> {
        trace.used.store(true, Relaxed);
        self.cache.lock().map_err(|_| poisoned())?.loaded.insert(trace.number);
        self.unit.shared.count(|counters| &counters.traces_loaded);
        self.forget_closure(&run)?;
        self.add(Entry::new(code.clone().unbind(), guards, None, run.clone().unbind(), trace.bound))?;
        Ok(Choice::Run(run.unbind()))
    }
}
