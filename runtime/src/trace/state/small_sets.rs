//! Sets of at most one item that the trace has let go: such a set has no order, until it grows.
use pyo3::prelude::*;
use pyo3::types::{PySet, PySetMethods};

/// Sets that may be looked at where the trace does not see it.
#[derive(Debug, Default)]
pub(crate) struct SmallSets {
    /// These.
    let_go: Vec<Py<PyAny>>,
    /// C may have got a function that puts items into sets.
    pub(crate) may_grow_unseen: bool,
}

impl SmallSets {
    /// The trace sees no longer what is done with a set that has at most one item.
    pub(crate) fn let_go(&mut self, set: &Bound<'_, PyAny>) {
        if !self.let_go.iter().any(|known| known.is(set)) {
            self.let_go.push(set.clone().unbind());
        }
    }

    /// A set whose order may have been seen.
    pub(crate) fn grown<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        let mut all = self.let_go.iter().map(|set| set.bind(py));
        all.find(|set| self.may_grow_unseen || !is_small(set)).cloned()
    }
}

/// Whether the set has at most one item.
pub(crate) fn is_small(set: &Bound<'_, PyAny>) -> bool {
    set.cast::<PySet>().is_ok_and(|set| set.len() <= 1)
}
