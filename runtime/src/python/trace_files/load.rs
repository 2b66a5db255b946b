//! `slotrt.load`: what an earlier process has saved; and how a call finds a trace there.
use super::own_objects::{OwnObjects, Traced};
use super::read::{Beginning, read_beginning, read_guards};
use super::save::{environment, hashes};
use crate::emit::{Failure, Host, function_like};
use crate::ffi::callable::Choice;
use crate::ffi::collector::Pause;
use crate::ffi::{Args, inspect, root};
use crate::guard::Program;
use crate::python::cache::{Entry, KeptOfTrace};
use crate::python::compiled::Compiled;
use crate::python::dispatch::poisoned;
use crate::python::emit_host::UnitHost;
use crate::python::errors::refused_file;
use crate::python::nested;
use crate::python::shared::Shared;
use crate::python::trace_store::{StoredTrace, TraceStore, version};
use crate::split::{frame_digest, root_of};
use crate::stored::{CALL, Damaged, FileError, In, Misfit, Seen, code_digest, read_code, read_file};
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
    /// A backend has raised.
    Raised(PyErr),
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
        if stores.is_empty() || !self.has_room()? {
            return Ok(None);
        }
        let Some(code) = inspect::function_code(function) else { return Ok(None) };
        let digest = frame_digest(&code, code_digest)?;
        let settings = unit.options.settings();
        let mut absent = None;
        for store in &stores {
            for trace in store.candidates(digest, settings) {
                if self.cache.lock().map_err(|_| poisoned())?.loaded.contains(&trace.number) {
                    continue;
                }
                match self.attempt(store, trace, function, args) {
                    Ok(Some(choice)) => return Ok(Some(choice)),
                    Ok(None) => {}
                    Err(Unread::Raised(error)) => return Err(error),
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

    /// Makes the code of a trace whose guards hold for this call; `None`: they do not.
    fn attempt<'py>(
        &self,
        store: &TraceStore,
        trace: &StoredTrace,
        function: &Bound<'py, PyAny>,
        args: Args<'_, 'py>,
    ) -> Result<Option<Choice>, Unread> {
        let (py, shared) = (function.py(), &self.unit.shared);
        let code = inspect::function_code(function).ok_or(Misfit::from(Damaged))?;
        let bytes = store.bytes(trace, py)?;
        let domains = shared.trace_caches.domains.loaded(py);
        let ours =
            OwnObjects::new(py, &shared.constants, domains, Traced::Read(Arc::clone(&self.unit), function.clone()));
        let mut fingerprints =
            store.fingerprints.lock().map(|mut known| std::mem::take(&mut *known)).unwrap_or_default();
        let mut from = In::new(bytes, code.clone(), &mut fingerprints, &ours);
        let made = self.read(&mut from, &ours, function, args);
        let absent = from.absent.take();
        drop(from);
        if let Ok(mut known) = store.fingerprints.lock() {
            *known = fingerprints;
        }
        let made = match (made, absent) {
            (Err(Unread::Unfit(_)), Some(module)) => return Err(Unread::Early(module)),
            (Err(Unread::Unfit(Misfit(why))), None) if why == CALL => return Ok(None),
            (made, _) => made?,
        };
        made.map(|(made, beginning)| self.take(trace, made, beginning, function, args).map_err(Unread::Raised))
            .transpose()
    }

    fn read<'a, 'py>(
        &self,
        from: &mut In<'a, 'py>,
        ours: &OwnObjects<'py>,
        function: &Bound<'py, PyAny>,
        args: Args<'a, 'py>,
    ) -> Result<Option<(Bound<'py, PyAny>, Beginning)>, Unread> {
        let py = function.py();
        // All that is read stays.
        let pause = Pause::new(py);
        let guards = read_guards(from, ours, args, function)?;
        if guards.check(args, function).is_err() {
            self.note_other_numbers(&guards, function, args).map_err(Unread::Raised)?;
            return Ok(None);
        }
        let (mut beginning, graph) = read_beginning(from, ours, guards, args, function)?;
        drop(pause);
        if let Some(graph) = graph {
            let host = UnitHost(Arc::clone(&self.unit));
            let compiled = self.undisturbed(py, || host.backend(py, graph.graph(), &graph.examples));
            let Some(compiled) = compiled.map_err(Unread::Raised)? else { return Err(Misfit::from(Damaged).into()) };
            ours.set_compiled(compiled.callable.bind(py).clone());
            beginning = beginning.with_conditions(py, compiled.conditions).map_err(|failure| match failure {
                Failure::Python(error) => Unread::Raised(error),
                Failure::Refused(reason) => Unread::Unfit(Misfit(reason)),
            })?;
            beginning.rebuild.graph = Some(graph.compiled(compiled.callable));
        }
        let _pause = Pause::new(py);
        let made = read_code(from)?;
        if !from.bytes.is_at_end() {
            return Err(Misfit::from(Damaged).into());
        }
        root::keep(&made, &root_of(&from.traced())).map_err(Misfit::from)?;
        Ok(Some((made, beginning)))
    }

    /// A trace of an earlier process asks for other numbers than this call has: the next trace takes them for symbolic.
    fn note_other_numbers<'py>(
        &self,
        guards: &Program,
        function: &Bound<'py, PyAny>,
        args: Args<'_, 'py>,
    ) -> PyResult<()> {
        if self.unit.options.dynamic == Some(false) {
            return Ok(());
        }
        let changed = guards.changed_numbers(args, function);
        self.cache.lock().map_err(|_| poisoned())?.changing.extend(changed);
        Ok(())
    }

    fn take<'py>(
        &self,
        trace: &StoredTrace,
        made: Bound<'py, PyAny>,
        beginning: Beginning,
        function: &Bound<'py, PyAny>,
        args: Args<'_, 'py>,
    ) -> PyResult<Choice> {
        let Beginning { guards, again, rebuild, inside, .. } = beginning;
        let run = function_like(&made, function)?;
        trace.used.store(true, Relaxed);
        let mut cache = self.cache.lock().map_err(|_| poisoned())?;
        cache.loaded.insert(trace.number);
        cache.changed_again |= again;
        cache.changing.extend(rebuild.symbols.iter().flat_map(Program::keys));
        drop(cache);
        self.unit.shared.count(|counters| &counters.traces_loaded);
        self.forget_closure(&run)?;
        nested::register(function.py(), &self.unit, &inside)?;
        // While a backend was at work, what the guards ask for may have changed.
        let is_right = rebuild.graph.is_none() || guards.check(args, function).is_ok();
        let code = inspect::function_code(function).unwrap_or(made);
        let kept = KeptOfTrace {
            seen: Seen { bound: trace.bound, ..Seen::default() },
            rebuild,
            inside,
            is_written: true.into(),
        };
        self.add(Entry::new(code.unbind(), guards, None, run.clone().unbind(), kept))?;
        Ok(if is_right { Choice::Run(run.unbind()) } else { Choice::Original })
    }
}
