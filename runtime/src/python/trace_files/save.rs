//! `slotrt.save`: what was traced, as a file.
use super::own_objects::{OwnObjects, Traced};
use super::write::write;
use crate::python::cache::Entry;
use crate::python::errors::refused_file;
use crate::python::shared::Shared;
use crate::python::trace_store::{StoredTrace, version};
use crate::split::frame_digest;
use crate::stored::{Environment, Fingerprints, Misfit, Out, ProcessBound, Reach, Writer, write_file};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;

/// Writes everything compiled that still lives; gives `traces`, `bytes` and, by reason, `left_out`.
pub fn save<'py>(py: Python<'py>, shared: &Shared, path: &Path) -> PyResult<Bound<'py, PyDict>> {
    let mut saving = Saving {
        ours: OwnObjects::new(py, &shared.constants, shared.trace_caches.domains.loaded(py), Traced::Written(0)),
        reach: Reach::new(py),
        fingerprints: Fingerprints::default(),
        out: Writer::default(),
        count: 0,
        seen: FxHashSet::default(),
        left_out: BTreeMap::new(),
        libraries: BTreeMap::new(),
    };
    saving.compiled(py, shared);
    saving.loaded(shared);
    let mut content = Writer::default();
    content.word(hashes(py));
    content.number(saving.count);
    content.0.extend_from_slice(&saving.out.0);
    let environment = saving.environment(py)?;
    let bytes = py.detach(|| write_file(path, &environment, &content.0)).map_err(|error| refused_file(&error))?;
    let report = PyDict::new(py);
    report.set_item("traces", saving.count)?;
    report.set_item("bytes", bytes)?;
    report.set_item("left_out", saving.left_out)?;
    Ok(report)
}

struct Saving<'py> {
    ours: OwnObjects<'py>,
    reach: Reach<'py>,
    fingerprints: Fingerprints,
    out: Writer,
    count: u64,
    seen: FxHashSet<Vec<u8>>,
    left_out: BTreeMap<String, u64>,
    libraries: BTreeMap<String, String>,
}

impl<'py> Saving<'py> {
    fn compiled(&mut self, py: Python<'py>, shared: &Shared) {
        let roots = shared.roots.lock().map(|roots| roots.clone()).unwrap_or_default();
        let generation = shared.generation.load(Relaxed);
        for root in roots {
            let Some(cache) = root.cache.upgrade() else { continue };
            let table =
                cache.lock().ok().filter(|cache| cache.generation == generation).map(|cache| cache.table.clone());
            let again = cache.lock().is_ok_and(|cache| cache.changed_again);
            for entry in table.iter().flat_map(|table| table.entries()) {
                let Some((code, ..)) = entry.compiled() else { continue };
                let digest = frame_digest(code.bind(py), |code| self.digest(code));
                let trace = self.trace(py, entry, root.unit, again);
                match trace.and_then(|trace| Ok((digest?, trace))) {
                    Ok((code, (bound, bytes))) => {
                        let mut out = Writer::default();
                        StoredTrace::write(&mut out, code, root.settings, bound, &bytes);
                        self.add(out.0);
                    }
                    Err(Misfit(why)) => *self.left_out.entry(why).or_default() += 1,
                }
            }
        }
    }

    fn digest(&mut self, code: &Bound<'py, PyAny>) -> PyResult<u128> {
        self.fingerprints.of_code(code).map_err(|Misfit(why)| PyValueError::new_err(why))
    }

    /// What an earlier process has saved and this one has not needed.
    fn loaded(&mut self, shared: &Shared) {
        for store in shared.stores() {
            for (trace, bytes) in store.unused() {
                if trace.bound > ProcessBound::Nowhere && !store.has_same_hashes() {
                    continue;
                }
                let mut out = Writer::default();
                StoredTrace::write(&mut out, trace.code, trace.settings, trace.bound, bytes);
                self.add(out.0);
            }
            self.libraries.extend(store.libraries());
        }
    }

    fn add(&mut self, trace: Vec<u8>) {
        if !self.seen.contains(&trace) {
            self.out.0.extend_from_slice(&trace);
            self.count += 1;
            self.seen.insert(trace);
        }
    }

    fn trace(
        &mut self,
        py: Python<'py>,
        entry: &Entry,
        unit: usize,
        again: bool,
    ) -> Result<(ProcessBound, Vec<u8>), Misfit> {
        let compiled = entry.rebuilt_graph().map(|graph| graph.compiled.bind(py).clone());
        self.ours.write_trace_of(unit, compiled);
        let (code, ..) = entry.compiled().ok_or_else(|| Misfit::new("the frame runs as it is"))?;
        let mut out = Out::new(code.bind(py).clone(), &mut self.reach, &mut self.fingerprints, &self.ours);
        write(entry, again, &mut out)?;
        Ok((entry.kept().bound.max(out.bound), out.bytes.0))
    }

    fn environment(&mut self, py: Python<'_>) -> PyResult<Environment> {
        for module in self.reach.modules() {
            let name = module.split('.').next().unwrap_or(module);
            if let Some(version) = version(py, name) {
                self.libraries.insert(name.to_owned(), version);
            }
        }
        let libraries = std::mem::take(&mut self.libraries).into_iter().collect();
        Ok(Environment { libraries, ..environment(py)? })
    }
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
