//! Iterators of C that do not say where they stand, those of `itertools` and over deques: their fields say it.
//!
//! A field holds an object only if the collector finds that object in the iterator: where a release lays them out in another way, there is
//! no copy.
use super::samples;
use crate::ffi::referents;
use crate::ffi::types;
use generated::slots::Slot;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// Words of an object before its own fields.
const HEAD: usize = 2;

/// Whether the class is one of C's iterators, which give themselves where an iterator of them is asked for.
#[must_use]
pub fn is_iterator(class: &Bound<'_, PyType>) -> bool {
    let itself = ffi::PyObject_SelfIter as *const () as usize;
    types::is_immutable(class)
        && types::slot(class, Slot::tp_iternext).is_some()
        && types::slot(class, Slot::tp_iter) == Some(itself)
}

/// Whether the fields of iterators of this class are read.
pub(super) fn is_told_by_fields(class: &Bound<'_, PyType>) -> bool {
    ["itertools.", "collections._deque_", "_collections._deque_"].iter().any(|name| types::is_named(class, name))
}

/// Whether they take iterators over the items of another iterator.
pub(super) fn goes_through_items(class: &Bound<'_, PyType>) -> bool {
    types::is_named(class, "itertools.chain")
}

/// The fields of an iterator.
pub(super) struct Fields<'py> {
    words: Vec<usize>,
    held: Vec<Bound<'py, PyAny>>,
}

impl<'py> Fields<'py> {
    pub(super) fn of(iterator: &Bound<'py, PyAny>) -> Option<Self> {
        const MANY: usize = 8;
        let words = samples::words(iterator).ok()?;
        Some(Self { words, held: referents::direct(iterator, MANY) })
    }

    /// The number in a field.
    pub(super) fn number(&self, index: usize) -> Option<isize> {
        self.words.get(HEAD + index).map(|word| word.cast_signed())
    }

    /// The object in a field, or `Some(None)` for a NULL.
    pub(super) fn object(&self, index: usize) -> Option<Option<Bound<'py, PyAny>>> {
        match *self.words.get(HEAD + index)? {
            0 => Some(None),
            word => self.held.iter().find(|held| held.as_ptr() as usize == word).cloned().map(Some),
        }
    }
}
