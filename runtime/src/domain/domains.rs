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
pub struct Domains(Mutex<Vec<LoadedDomain>>);

#[derive(Debug)]
struct LoadedDomain {
    module: Py<PyModule>,
    domain: Arc<dyn Domain>,
}

type Make = fn(&Bound<'_, PyModule>) -> PyResult<Option<Arc<dyn Domain>>>;

/// In the order of the modules that bring the domains along: numpy, torch.
const MAKERS: [Make; 2] = [numpy::new, torch::new];

impl Domains {
    /// The domains whose libraries are imported now.
    pub fn loaded(&self, py: Python<'_>) -> Vec<Arc<dyn Domain>> {
        let names = [intern!(py, "numpy"), intern!(py, "torch")];
        let imported = |(name, make): (&Bound<'_, PyString>, Make)| {
            let module = modules::imported(name)?.cast_into::<PyModule>().ok()?;
            self.of(&module, make)
        };
        names.into_iter().zip(MAKERS).filter_map(imported).collect()
    }

    fn of(&self, module: &Bound<'_, PyModule>, make: Make) -> Option<Arc<dyn Domain>> {
        let find = |known: &Vec<LoadedDomain>| {
            known.iter().find(|known| known.module.is(module)).map(|known| known.domain.clone())
        };
        if let Some(domain) = find(&*self.0.lock().ok()?) {
            return Some(domain);
        }
        // A program can look while the library is still being imported: what is none yet may be one later.
        let domain = make(module).ok().flatten()?;
        self.0.lock().ok()?.push(LoadedDomain { module: module.clone().unbind(), domain: Arc::clone(&domain) });
        Some(domain)
    }
}
