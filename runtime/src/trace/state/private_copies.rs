//! Private copies of containers that exist outside.
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rustc_hash::FxHashMap;
use std::ops::Deref;

/// A private copy of a container that exists outside: C works on the copy, the end of the trace compares.
#[derive(Debug)]
pub struct Shadow {
    pub(crate) value: ValueId,
    /// The step of the outermost frame at which it was made.
    pub(crate) born: u64,
    pub(crate) object: Py<PyAny>,
    /// A shallow copy of the shadow as it was first.
    pub(crate) original: Py<PyAny>,
}

impl Shadow {
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
pub(crate) struct Shadows {
    list: Vec<Shadow>,
    of: FxHashMap<ValueId, usize>,
}

impl Deref for Shadows {
    type Target = [Shadow];

    fn deref(&self) -> &[Shadow] {
        &self.list
    }
}

impl Shadows {
    /// The copy of a container.
    pub(crate) fn of(&self, container: ValueId) -> Option<&Shadow> {
        self.of.get(&container).map(|index| &self.list[*index])
    }

    pub(crate) fn add(&mut self, shadow: Shadow) {
        self.of.insert(shadow.value, self.list.len());
        self.list.push(shadow);
    }

    /// Forgets those made after the first `length`, and gives them back.
    pub(crate) fn truncate(&mut self, length: usize) -> Vec<Shadow> {
        let forgotten = self.list.split_off(length);
        for shadow in &forgotten {
            self.of.remove(&shadow.value);
        }
        forgotten
    }
}

/// An object and its copy.
#[derive(Debug)]
pub struct Copied {
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
