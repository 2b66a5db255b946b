//! Iterators of C: what they will give, which a copy of theirs is asked for, and steps of theirs.
use super::iterator_copies::Copies;
use super::iterator_fields;
pub use super::iterator_fields::is_iterator;
use crate::ffi::referents;
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyTuple};

/// The next items of an iterator, at most `count`; `None`: nobody can tell without asking the iterator itself.
#[must_use]
pub fn ahead<'py>(iterator: &Bound<'py, PyAny>, count: usize) -> Option<Bound<'py, PyTuple>> {
    let mut copy = Copies::default().copy(iterator)?.cast_into::<PyIterator>().ok()?;
    let mut items = Vec::with_capacity(count);
    while items.len() < count {
        match copy.next() {
            Some(Ok(item)) => items.push(item),
            Some(Err(_)) => return None,
            None => break,
        }
    }
    PyTuple::new(iterator.py(), items).ok()
}

/// The same. Called by compiled code.
///
/// # Errors
/// Where nobody can tell.
#[pyfunction]
pub fn look_ahead<'py>(iterator: &Bound<'py, PyAny>, count: usize) -> PyResult<Bound<'py, PyTuple>> {
    ahead(iterator, count).ok_or_else(|| PyTypeError::new_err("the iterator does not say what it will give"))
}

/// Advances an iterator by so many steps; the last may be its end. Called by compiled code.
///
/// # Errors
/// What the iterator raises.
#[pyfunction]
pub fn advance(iterator: Bound<'_, PyAny>, steps: usize) -> PyResult<()> {
    let mut iterator = iterator.cast_into::<PyIterator>()?;
    for _ in 0..steps {
        iterator.next().transpose()?;
    }
    Ok(())
}

/// C's iterator over what has items by index, whatever `iter()` gives for it.
///
/// # Errors
/// Where it is no sequence.
pub fn over_sequence<'py>(sequence: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: a live object; a new reference or an exception comes back.
    unsafe { Bound::from_owned_ptr_or_err(sequence.py(), ffi::PySeqIter_New(sequence.as_ptr())) }
}

/// What an iterator goes through.
#[derive(Debug, Default)]
pub struct Reached<'py> {
    /// The iterators that steps of it advance, itself first.
    pub iterators: Vec<Bound<'py, PyAny>>,
    /// What else they hold.
    pub others: Vec<Bound<'py, PyAny>>,
}

/// What the steps of an iterator of C advance and read; `None`: too much.
#[must_use]
pub fn reached<'py>(iterator: &Bound<'py, PyAny>) -> Option<Reached<'py>> {
    const MANY: usize = 64;
    let mut reached = Reached::default();
    let mut work = vec![iterator.clone()];
    while let Some(object) = work.pop() {
        // One that has come to its end leaves a NULL in a tuple of iterators.
        let several = |tuple: &Bound<'py, PyTuple>| {
            let mut items = (0..tuple.len()).filter_map(|index| referents::item(tuple, index));
            items.all(|item| is_iterator(&item.get_type()))
        };
        let is_iterator = is_iterator(&object.get_type());
        match is_iterator {
            true => reached.iterators.push(object.clone()),
            false => reached.others.push(object.clone()),
        }
        if is_iterator || object.cast_exact::<PyTuple>().is_ok_and(several) {
            work.extend(referents::direct(&object, MANY + 1));
        }
        if is_iterator && iterator_fields::goes_through_items(&object.get_type()) {
            work.extend(Copies::default().inputs_of(&object)?);
        }
        if work.len() + reached.iterators.len() > MANY {
            return None;
        }
    }
    Some(reached)
}
