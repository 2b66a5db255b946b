//! The warning filters of the program, as the trace finds and replaces them.
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use std::sync::OnceLock;

/// What a break is called where a warning goes by more than filters of the trace.
pub(crate) const WARNS: &str = "C code that warns";

/// Whether C code has warned in a thread since it began to run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WarningState {
    /// Nobody listens.
    Inactive,
    Nothing,
    /// Of what the trace has done itself.
    Followed,
    Warning,
}

/// What C code has warned of.
#[derive(Debug)]
pub(crate) struct Heard {
    pub(crate) text: Py<PyAny>,
    pub(crate) category: Py<PyAny>,
}

/// The filters that take every warning, by action: made once.
#[derive(Debug, Default)]
pub(crate) struct WarningFilters(pub(crate) [OnceLock<Py<PyTuple>>; 2]);

/// The program's filters, as a trace knows them.
#[derive(Debug, Default)]
pub(crate) struct Filters {
    /// Looked for when C first runs.
    pub(crate) list: Option<Py<PyList>>,
    pub(crate) listening: Option<InstalledFilter>,
}

/// While C runs.
#[derive(Debug)]
pub(crate) struct InstalledFilter {
    /// The trace's own filter.
    pub(crate) own: Py<PyAny>,
    /// What it stands in place of; `None`: the list was empty.
    pub(crate) first: Option<Py<PyAny>>,
    /// The state of the C code that called into the trace.
    pub(crate) outer: WarningState,
}
