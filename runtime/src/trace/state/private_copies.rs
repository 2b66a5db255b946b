//! Private copies of containers, and of the state of C objects, from outside.
use crate::ffi::{containers, ordered_dict};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rustc_hash::FxHashMap;
use std::ops::Deref;

/// A private copy of a container that exists outside: C works on the copy, the end of the trace compares.
#[derive(Debug)]
pub struct PrivateCopy {
    pub(crate) value: ValueId,
    /// The step of the outermost frame at which it was made.
    pub(crate) created_at: u64,
    pub(crate) object: Py<PyAny>,
    /// C gets it as an argument, too: that of a derived class.
    pub(crate) is_given: bool,
    /// It has the attributes of the object.
    pub(crate) has_attributes: bool,
    /// What the private copy held first, in a container of a builtin class.
    pub(crate) original: Py<PyAny>,
}

impl PrivateCopy {
    /// Whether the trace has changed the copy.
    pub(crate) fn is_changed(&self, py: Python<'_>) -> bool {
        let (now, then) = (self.object.bind(py), self.original.bind(py));
        if now.is(then) {
            return false;
        }
        if let (Ok(now), Ok(then)) = (now.cast::<PyDict>(), then.cast::<PyDict>()) {
            let (Some(keys), Some(first)) = (keys_in_order(now), keys_in_order(then)) else { return true };
            return !same_order(keys.as_any(), first.as_any())
                || !same_order(now.keys().as_any(), then.keys().as_any())
                || !same_order(now.values().as_any(), then.values().as_any());
        }
        match containers::of(&now.get_type()).filter(|_| !containers::is_plain(now)) {
            Some(container) => {
                let held = container.items(now).and_then(|items| PyList::new(py, items));
                !held.is_ok_and(|held| same_order(held.as_any(), then))
            }
            None => !same_order(now, then),
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

    /// C gets it as an argument from now on.
    pub(crate) fn give(&mut self, container: ValueId) {
        if let Some(index) = self.of.get(&container) {
            self.list[*index].is_given = true;
        }
    }

    /// It has the attributes of the object from now on.
    pub(crate) fn give_attributes(&mut self, container: ValueId) {
        if let Some(index) = self.of.get(&container) {
            self.list[*index].has_attributes = true;
        }
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
    /// The state when the copy was made; `None`: the trace depends on none, and sets it in any case.
    pub(crate) before: Option<Py<PyAny>>,
}

/// The keys of a dict; of an `OrderedDict` in its order.
fn keys_in_order<'py>(dict: &Bound<'py, PyDict>) -> Option<Bound<'py, PyList>> {
    match ordered_dict::is_derived(dict) {
        true => ordered_dict::order(dict).and_then(|order| PyList::new(dict.py(), order)).ok(),
        false => Some(dict.keys()),
    }
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
