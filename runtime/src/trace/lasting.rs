//! What traces of one session need again and again: made once.
use crate::domain::Domains;
use crate::ffi::types;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyType;
use rustc_hash::FxHashMap;
use std::sync::Mutex;

/// How many mirrors of classes that may change are kept.
const VERSIONS: usize = 64;

/// Kept from trace to trace.
#[derive(Debug, Default)]
pub struct Lasting {
    pub(super) domains: Domains,
    /// Classes of tokens by the address of the class that they stand for, which stands beside them: of classes that never change.
    mirrors: Mutex<FxHashMap<usize, [Py<PyType>; 2]>>,
    /// The same for classes that may change, by address and version tag, which no two classes and no two states of a class share.
    versions: Mutex<FxHashMap<(usize, u32), Py<PyType>>>,
    /// Classes of C that no module names.
    nameless: Mutex<FxHashMap<&'static str, Py<PyType>>>,
}

impl Lasting {
    pub(super) fn mirror<'py>(&self, class: &Bound<'py, PyType>) -> Option<Bound<'py, PyType>> {
        let address = class.as_ptr() as usize;
        if !types::is_immutable(class) {
            let version = types::version_tag(class);
            return Some(self.versions.lock().ok()?.get(&(address, version))?.bind(class.py()).clone());
        }
        let mirrors = self.mirrors.lock().ok()?;
        let [_, mirror] = mirrors.get(&address)?;
        Some(mirror.bind(class.py()).clone())
    }

    pub(super) fn keep_mirror(&self, class: &Bound<'_, PyType>, mirror: &Bound<'_, PyType>) {
        let address = class.as_ptr() as usize;
        if types::is_immutable(class) {
            if let Ok(mut mirrors) = self.mirrors.lock() {
                mirrors.insert(address, [class.clone().unbind(), mirror.clone().unbind()]);
            }
            return;
        }
        let version = types::version_tag(class);
        if version == 0 {
            return;
        }
        if self.versions.lock().is_ok_and(|versions| versions.len() >= VERSIONS) {
            self.forget_versions();
        }
        if let Ok(mut versions) = self.versions.lock() {
            versions.insert((address, version), mirror.clone().unbind());
        }
    }

    /// A trace has changed a mirror: those of classes that may change are made again.
    pub(super) fn forget_versions(&self) {
        let forgotten = self.versions.lock().map(|mut versions| std::mem::take(&mut *versions));
        // Classes end here: not under the lock.
        drop(forgotten);
    }

    /// The class of C with this name, among those that derive from `object` alone.
    pub(super) fn nameless<'py>(&self, object: &Bound<'py, PyAny>, name: &'static str) -> PyResult<Bound<'py, PyType>> {
        let py = object.py();
        if let Some(class) =
            self.nameless.lock().ok().and_then(|known| known.get(name).map(|class| class.clone_ref(py)))
        {
            return Ok(class.into_bound(py));
        }
        let classes = object.call_method0("__subclasses__")?.extract::<Vec<Bound<'py, PyType>>>()?;
        let class = classes.into_iter().find(|class| types::c_name(class) == name);
        let class = class.ok_or_else(|| PyTypeError::new_err(format!("no C type {name}")))?;
        if let Ok(mut known) = self.nameless.lock() {
            known.insert(name, class.clone().unbind());
        }
        Ok(class)
    }
}
