//! Releases where CPython tells of no changes: no watch can be made.
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::convert::Infallible;
use std::sync::Arc;

/// What cannot be made on this release.
#[derive(Debug)]
pub struct Watch(Infallible);

/// Nothing is watched.
#[must_use]
pub fn counts() -> [Option<usize>; 3] {
    [None; 3]
}

impl Watch {
    /// None.
    #[must_use]
    pub fn new(_py: Python<'_>) -> Option<Self> {
        None
    }

    /// Never asked.
    #[must_use]
    pub fn holds(&self) -> bool {
        match self.0 {}
    }

    /// Never asked.
    #[must_use]
    pub fn cause(&self) -> Option<u32> {
        match self.0 {}
    }

    /// Never asked.
    pub fn entry(&mut self, _dict: &Bound<'_, PyAny>, _key: &Bound<'_, PyAny>, _mark: u32) -> bool {
        match self.0 {}
    }

    /// Never asked.
    pub fn names(&mut self, _dict: &Bound<'_, PyAny>, _mark: u32) -> bool {
        match self.0 {}
    }

    /// Never asked.
    pub fn class(&mut self, _py: Python<'_>, _class: &Arc<Py<PyType>>, _mark: u32) -> bool {
        match self.0 {}
    }

    /// Never asked.
    pub fn function(&mut self, _function: &Bound<'_, PyAny>, _mark: u32) -> bool {
        match self.0 {}
    }
}
