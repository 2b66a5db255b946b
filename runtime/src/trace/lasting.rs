//! What traces of one session need again and again: made once.
use crate::domain::Domains;
use crate::ffi::types;
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
}
