//! Private copies of containers, and of the state of C objects, from outside.
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rustc_hash::FxHashMap;
use std::ops::Deref;

/// A private copy of a container that exists outside: C works on the copy, the end of the trace compares.
#[derive(Debug)]
pub struct PrivateCopy {
    pub(crate) value: ValueId,
    /// The step of the outermost frame at which it was made.
    pub(crate) created_at: u64,
    pub(crate) object: Py<PyAny>,
    /// A shallow copy of the private copy as it was first.
    pub(crate) original: Py<PyAny>,
}

impl PrivateCopy {
    /// Whether the trace has changed the copy.
    pub(crate) fn is_changed(&self, py: Python<'_>) -> bool {
        let (now, then) = (self.object.bind(py), self.original.bind(py));
        if !crate::trace::state::private_copies::same_order(now, then) {
            return true;
        }
        match (now.cast::<PyDict>(), then.cast::<PyDict>()) {
            (Ok(now), Ok(then)) => {
                !crate::trace::state::private_copies::same_order(now.values().as_any(), then.values().as_any())
            }
            _ => false,
        }
    }
}

/// The copies of a trace, in the order in which they were made.
#[derive(Debug, Default)]
pub(crate) struct PrivateCopies {
    list: Vec<PrivateCopy>,
    of: FxHashMap<ValueId, usize>,
}

impl Deref for PrivateCopies {
    type Target = [PrivateCopy];

    fn deref(&self) -> &[PrivateCopy] {
        &self.list
    }
}

impl PrivateCopies {
    /// The copy of a container.
    pub(crate) fn of(&self, container: ValueId) -> Option<&PrivateCopy> {
        self.of.get(&container).map(|index| &self.list[*index])
    }

    pub(crate) fn add(&mut self, private_copy: PrivateCopy) {
        self.of.insert(private_copy.value, self.list.len());
        self.list.push(private_copy);
    }

    /// Forgets those made after the first `length`, and gives them back.
    pub(crate) fn truncate(&mut self, length: usize) -> Vec<PrivateCopy> {
        let forgotten = self.list.split_off(length);
        for private_copy in &forgotten {
            self.of.remove(&private_copy.value);
        }
        forgotten
    }
}

/// An object and its copy.
#[derive(Debug)]
pub struct StateCopy {
    pub(crate) value: ValueId,
    pub(crate) copy: Py<PyAny>,
    /// The method of C that writes the state.
    pub(crate) write: Py<PyAny>,
    /// The method of C that reads it.
    pub(crate) read: Py<PyAny>,
    pub(crate) before: Py<PyAny>,
}

/// Whether both hold the same objects in the same order.
pub(crate) fn same_order(one: &Bound<'_, PyAny>, other: &Bound<'_, PyAny>) -> bool {
    match (one.try_iter(), other.try_iter()) {
        (Ok(ones), Ok(mut others)) => {
            let same =
                |item: Bound<'_, PyAny>| others.next().is_some_and(|other| other.is_ok_and(|other| other.is(&item)));
            one.len().ok() == other.len().ok() && ones.flatten().all(same)
        }
        _ => false,
    }
}
