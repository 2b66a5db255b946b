//! The PyTorch that the program has imported.
use super::check::Ambient;
use super::fakes::Fakes;
use super::rules::Rules;
use pyo3::prelude::*;
use pyo3::types::{PyModule, PyType};
use std::sync::Arc;

/// The PyTorch that the program has imported.
#[derive(Debug)]
pub struct Torch {
    pub(super) module: Py<PyModule>,
    pub(super) tensor: Py<PyType>,
    pub(super) parameter: Py<PyType>,
    pub(super) functions: Py<PyType>,
    pub(super) operator: Py<PyModule>,
    pub(super) ambient: Arc<Ambient>,
    pub(super) fakes: Fakes,
    pub(super) rules: Rules,
}
