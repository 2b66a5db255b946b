//! `slotrt.save`: what was traced, as a file.
use super::own_objects::{OwnObjects, Traced};
use super::write::write;
use crate::python::cache::Entry as CacheEntry;
use crate::python::compiled::Compiled;
use crate::python::dispatch::poisoned;
use crate::python::errors::refused_file;
use crate::python::shared::{Root, Shared};
use crate::python::trace_store::{NewTrace, Settings, version};
use crate::split::frame_digest;
use crate::stored::{Environment, Fingerprints, Misfit, Out, ProcessBound, Reach, Writer, bytes_digest, write_file};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::collections::hash_map::Entry;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, Weak};

/// Writes everything compiled that still lives, or was kept; gives `traces`, `bytes` and, by reason, `left_out`.
pub fn save<'py>(py: Python<'py>, shared: &Shared, path: &Path) -> PyResult<Bound<'py, PyDict>> {
    let mut saving = Saving { traces: Traces::default(), left_out: BTreeMap::new(), libraries: BTreeMap::new() };
    saving.compiled(py, shared);
    saving.written(shared);
    let modules = shared.kept.modules.lock().map(|modules| modules.clone()).unwrap_or_default();
    saving.name_libraries(py, modules.iter().map(String::as_str));
    let mut content = Writer::default();
    content.word(hashes(py));
    content.number(saving.traces.all.len() as u64);
    saving.traces.all.iter().for_each(|trace| trace.write(&mut content));
    let libraries = saving.libraries.into_iter().collect();
    let environment = Environment { libraries, ..environment(py)? };
    let bytes = py.detach(|| write_file(path, &environment, &content.0)).map_err(|error| refused_file(&error))?;
    let report = PyDict::new(py);
    report.set_item("traces", saving.traces.all.len())?;
    report.set_item("bytes", bytes)?;
    report.set_item("left_out", saving.left_out)?;
    Ok(report)
}

/// Traces, each once.
#[derive(Default)]
struct Traces {
    all: Vec<NewTrace>,
    places: FxHashMap<(u128, Settings, u128), usize>,
}

impl Traces {
    fn add(&mut self, trace: NewTrace) {
        match self.places.entry((trace.code, trace.settings, bytes_digest(&trace.bytes))) {
            Entry::Occupied(known) => {
                let known = &mut self.all[*known.get()];
                known.idle = known.idle.min(trace.idle);
            }
            Entry::Vacant(place) => {
                place.insert(self.all.len());
                self.all.push(trace);
            }
        }
    }
}

struct Saving {
    traces: Traces,
    left_out: BTreeMap<String, u64>,
    libraries: BTreeMap<String, String>,
}

impl Saving {
    fn compiled(&mut self, py: Python<'_>, shared: &Shared) {
        let roots = shared.roots.lock().map(|roots| roots.clone()).unwrap_or_default();
        let generation = shared.generation.load(Relaxed);
        let mut fingerprints = Fingerprints::default();
        let mut writing = Writing::new(py, shared, Reach::new(py), &mut fingerprints);
        for root in roots {
            let Some(cache) = root.cache.upgrade() else { continue };
            let now = cache.lock().ok().filter(|cache| cache.generation == generation);
            let Some((table, again)) = now.map(|cache| (cache.table.clone(), cache.changed_again)) else { continue };
            for entry in table.entries().filter(|entry| !entry.kept().is_written.load(Relaxed)) {
                if entry.compiled().is_none() {
                    continue;
                }
                match writing.trace(entry, &root, again) {
                    Ok(trace) => self.traces.add(trace),
                    Err(Misfit(why)) => *self.left_out.entry(why).or_default() += 1,
                }
            }
        }
        self.name_libraries(py, writing.reach.modules());
    }

    /// What was written as it was made, and what an earlier process has saved.
    fn written(&mut self, shared: &Shared) {
        let kept = shared.kept.traces.lock().map(|kept| kept.clone()).unwrap_or_default();
        kept.into_iter().for_each(|trace| self.traces.add(trace));
        for store in shared.stores() {
            let lasts = |trace: &NewTrace| trace.bound == ProcessBound::Nowhere || store.has_same_hashes();
            store.lasting().filter(lasts).for_each(|trace| self.traces.add(trace));
            self.libraries.extend(store.libraries());
        }
    }

    fn name_libraries<'a>(&mut self, py: Python<'_>, modules: impl Iterator<Item = &'a str>) {
        for module in modules {
            let name = module.split('.').next().unwrap_or(module);
            if let Some(version) = version(py, name) {
                self.libraries.insert(name.to_owned(), version);
            }
        }
    }
}

/// Writes traces.
struct Writing<'a, 'py> {
    ours: OwnObjects<'py>,
    reach: Reach<'py>,
    fingerprints: &'a mut Fingerprints,
}

impl<'a, 'py> Writing<'a, 'py> {
    fn new(py: Python<'py>, shared: &Shared, reach: Reach<'py>, fingerprints: &'a mut Fingerprints) -> Self {
        let domains = shared.trace_caches.domains.loaded(py);
        Self { ours: OwnObjects::new(py, &shared.constants, domains, Traced::Written(0)), reach, fingerprints }
    }

    fn trace(&mut self, entry: &CacheEntry, root: &Root, again: bool) -> Result<NewTrace, Misfit> {
        let py = self.reach.py();
        let compiled = entry.rebuilt_graph().map(|graph| graph.compiled.bind(py).clone());
        let guesses = root.kept.upgrade().and_then(|kept| kept.known_guesses(py));
        self.ours.write_trace_of(root.unit, compiled, guesses);
        let (code, ..) = entry.compiled().ok_or_else(|| Misfit::new("the frame runs as it is"))?;
        let digest = frame_digest(code.bind(py), |code| {
            self.fingerprints.of_code(code).map_err(|Misfit(why)| PyValueError::new_err(why))
        })?;
        let mut out = Out::new(
            code.bind(py).clone(),
            &mut self.reach,
            self.fingerprints,
            &entry.kept().seen.addresses,
            &self.ours,
        );
        write(entry, again, &mut out)?;
        let bound = entry.kept().seen.bound.max(out.bound);
        Ok(NewTrace { code: digest, settings: root.settings, bound, idle: 0, bytes: out.bytes.0 })
    }
}

impl Compiled {
    /// Writes a trace that was made just now, where the session keeps them: what it is of may be gone when they are saved. What takes a search
    /// is written then, if it still lives.
    pub(in crate::python) fn keep(&self, py: Python<'_>, entry: &CacheEntry) -> PyResult<()> {
        let shared = &self.unit.shared;
        let kept = &shared.kept;
        if !kept.keeps.load(Relaxed) {
            return Ok(());
        }
        let again = self.cache.lock().map_err(|_| poisoned())?.changed_again;
        let (mut fingerprints, nearby) = (taken(&kept.fingerprints), taken(&kept.nearby));
        let mut writing = Writing::new(py, shared, Reach::nearby(py, nearby), &mut fingerprints);
        let (unit, settings) = (Arc::as_ptr(&self.unit) as usize, self.unit.options.settings());
        let root = Root { cache: Weak::new(), settings, unit, kept: Arc::downgrade(&self.unit.kept) };
        let written = writing.trace(entry, &root, again);
        if let Ok(trace) = written {
            entry.kept().is_written.store(true, Relaxed);
            kept.traces.lock().map_err(|_| poisoned())?.push(trace);
            let modules = writing.reach.modules().map(str::to_owned);
            kept.modules.lock().map_err(|_| poisoned())?.extend(modules);
        }
        *kept.nearby.lock().map_err(|_| poisoned())? = writing.reach.into_nearby();
        *kept.fingerprints.lock().map_err(|_| poisoned())? = fingerprints;
        Ok(())
    }
}

fn taken<T: Default>(shared: &Mutex<T>) -> T {
    shared.lock().map(|mut shared| std::mem::take(&mut *shared)).unwrap_or_default()
}

/// The interpreter and slotrt of this process.
pub fn environment(py: Python<'_>) -> PyResult<Environment> {
    let sys = crate::ffi::modules::import(py, "sys")?;
    let tag = sys.getattr("implementation")?.getattr("cache_tag")?;
    let interpreter = format!("{tag}, {}", sys.getattr("version")?);
    let library = crate::ffi::modules::import(py, "slotrt._slotrt")?;
    // Builds of one version differ: their size tells most of them apart.
    let file: Option<String> = library.getattr("__file__").and_then(|file| file.extract()).ok();
    let size = file.and_then(|file| std::fs::metadata(file).ok()).map_or(0, |file| file.len());
    let slotrt = format!("{} ({size} bytes)", env!("CARGO_PKG_VERSION"));
    Ok(Environment { interpreter, slotrt, libraries: Vec::new() })
}

/// What texts have for hashes in this process.
pub fn hashes(py: Python<'_>) -> u64 {
    PyString::new(py, "the order of sets").hash().map_or(0, isize::cast_unsigned) as u64
}
