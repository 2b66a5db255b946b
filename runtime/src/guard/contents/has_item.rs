//! The condition that a set has an item, or has it not.
use crate::ffi::containers::has_key;
use crate::ffi::key_hashes::runs_code_for;
use crate::guard::condition::DomainCheck;
use pyo3::prelude::*;

/// What its state is written as.
pub(in crate::guard) const HAS_ITEM: &str = "has item";

/// That a `set` or `frozenset`, or an instance of a derived class, holds a plain value, or that it does not.
#[derive(Debug)]
pub struct HasItem {
    item: Py<PyAny>,
    /// Whether it does.
    pub truth: bool,
}

impl HasItem {
    /// As the set is now.
    ///
    /// # Errors
    /// Where it is no set.
    pub fn new<'py>(item: &Bound<'py, PyAny>, set: &Bound<'py, PyAny>) -> PyResult<Self> {
        Ok(Self { item: item.clone().unbind(), truth: has_key(set, item)? })
    }
}

impl HasItem {
    /// Whether a set has the item: `(item, truth)`.
    pub(in crate::guard) fn of_state(state: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (item, truth) = state.extract::<(Bound<'_, PyAny>, bool)>()?;
        Ok(Self { item: item.unbind(), truth })
    }
}

impl DomainCheck for HasItem {
    fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        let item = self.item.bind(value.py());
        !runs_code_for(value, item) && has_key(value, item).is_ok_and(|truth| truth == self.truth)
    }

    fn state<'py>(&self, py: Python<'py>) -> Option<(&'static str, Bound<'py, PyAny>)> {
        let state = (self.item.bind(py), self.truth).into_pyobject(py).ok()?;
        Some((HAS_ITEM, state.into_any()))
    }

    fn describe(&self) -> String {
        let item = Python::attach(|py| self.item.bind(py).repr().map(|text| text.to_string()).unwrap_or_default());
        if self.truth { format!("holds {item}") } else { format!("does not hold {item}") }
    }
}
