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
    /// Classes of tokens by the address of the class that they stand for: of classes that never change, and never go.
    mirrors: Mutex<FxHashMap<usize, Py<PyType>>>,
}

impl Lasting {
    pub(super) fn mirror<'py>(&self, class: &Bound<'py, PyType>) -> Option<Bound<'py, PyType>> {
        Some(self.mirrors.lock().ok()?.get(&(class.as_ptr() as usize))?.bind(class.py()).clone())
    }

    pub(super) fn keep_mirror(&self, class: &Bound<'_, PyType>, mirror: &Bound<'_, PyType>) {
        if !types::is_heap(class)
            && types::is_immutable(class)
            && let Ok(mut mirrors) = self.mirrors.lock()
        {
            mirrors.insert(class.as_ptr() as usize, mirror.clone().unbind());
        }
    }
}
