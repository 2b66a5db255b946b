//! The domains whose libraries the program has imported.
use super::interface::Domain;
use super::{numpy, torch};
use crate::ffi::modules;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyModule, PyString};
use std::sync::{Arc, Mutex};

/// The array libraries that the program has imported, looked into once.
#[derive(Debug, Default)]
pub struct Domains {
    loaded: Mutex<Vec<LoadedDomain>>,
    /// Those that programs have brought along.
    added: Mutex<Vec<Arc<dyn Domain>>>,
}

#[derive(Debug)]
struct LoadedDomain {
    make: usize,
    module: Py<PyModule>,
    domain: Arc<dyn Domain>,
}

type Make = fn(&Bound<'_, PyModule>) -> PyResult<Option<Arc<dyn Domain>>>;

/// In the order of the modules that bring the domains along: numpy, torch, torch again.
const MAKERS: [Make; 3] = [numpy::new, torch::new, torch::new_generators];

impl Domains {
    /// The domains whose libraries are imported now.
    pub fn loaded(&self, py: Python<'_>) -> Vec<Arc<dyn Domain>> {
        let names = [intern!(py, "numpy"), intern!(py, "torch"), intern!(py, "torch")];
        let imported = |(make, name): (usize, &Bound<'_, PyString>)| {
            let module = modules::imported(name)?.cast_into::<PyModule>().ok()?;
            self.of(&module, make)
        };
        let added = self.added.lock().map(|added| added.clone()).unwrap_or_default();
        added.into_iter().chain(names.into_iter().enumerate().filter_map(imported)).collect()
    }

    /// Adds one from outside; it is asked before the others. One of the same name is replaced.
    pub fn add(&self, domain: Arc<dyn Domain>) {
        let Ok(mut added) = self.added.lock() else { return };
        let replaced = added.extract_if(.., |known| known.name() == domain.name()).collect::<Vec<_>>();
        added.push(domain);
        drop(added);
        drop(replaced);
    }

    fn of(&self, module: &Bound<'_, PyModule>, make: usize) -> Option<Arc<dyn Domain>> {
        let find = |known: &Vec<LoadedDomain>| {
            known.iter().find(|known| known.make == make && known.module.is(module)).map(|known| known.domain.clone())
        };
        if let Some(domain) = find(&*self.loaded.lock().ok()?) {
            return Some(domain);
        }
        // A program can look while the library is still being imported: what is none yet may be one later.
        let domain = MAKERS.get(make)?(module).ok().flatten()?;
        self.loaded.lock().ok()?.push(LoadedDomain {
            make,
            module: module.clone().unbind(),
            domain: Arc::clone(&domain),
        });
        Some(domain)
    }
}
