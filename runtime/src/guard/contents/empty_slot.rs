//! The condition that a slot of an object holds nothing.
use crate::ffi::types;
use crate::guard::condition::DomainCheck;
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;

/// What its state is written as.
pub(in crate::guard) const EMPTY_SLOT: &str = "empty slot";

/// That the slot which a member descriptor of C reads is empty.
#[derive(Debug)]
pub struct EmptySlot(pub Py<PyAny>);

impl DomainCheck for EmptySlot {
    fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        let py = value.py();
        types::read(self.0.bind(py), value).is_err_and(|error| error.is_instance_of::<PyAttributeError>(py))
    }

    fn state<'py>(&self, py: Python<'py>) -> Option<(&'static str, Bound<'py, PyAny>)> {
        Some((EMPTY_SLOT, self.0.bind(py).clone()))
    }

    fn describe(&self) -> String {
        let name = Python::attach(|py| self.0.bind(py).getattr("__name__").map(|name| name.to_string()));
        format!("has nothing in the slot {}", name.unwrap_or_default())
    }
}
