//! What traces of one session need again and again: made once.
use crate::domain::Domains;
use crate::ffi::types;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyType;
use rustc_hash::FxHashMap;
use std::sync::Mutex;

/// Kept from trace to trace.
#[derive(Debug, Default)]
pub struct Lasting {
    pub(super) domains: Domains,
    /// Classes of tokens by the address of the class that they stand for, which stands beside them: of classes that never change.
    mirrors: Mutex<FxHashMap<usize, [Py<PyType>; 2]>>,
    /// Classes of C that no module names.
    nameless: Mutex<FxHashMap<&'static str, Py<PyType>>>,
}

impl Lasting {
    pub(super) fn mirror<'py>(&self, class: &Bound<'py, PyType>) -> Option<Bound<'py, PyType>> {
        let mirrors = self.mirrors.lock().ok()?;
        let [_, mirror] = mirrors.get(&(class.as_ptr() as usize))?;
        Some(mirror.bind(class.py()).clone())
    }

    pub(super) fn keep_mirror(&self, class: &Bound<'_, PyType>, mirror: &Bound<'_, PyType>) {
        if types::is_immutable(class)
            && let Ok(mut mirrors) = self.mirrors.lock()
        {
            mirrors.insert(class.as_ptr() as usize, [class.clone().unbind(), mirror.clone().unbind()]);
        }
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
