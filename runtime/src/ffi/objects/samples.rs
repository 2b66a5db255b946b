//! Finds the fields of C structures that no attribute shows, by comparing sample objects that differ in one field each.
use crate::ffi::raw::read;
use crate::names::name;
use pyo3::prelude::*;

const WORD: usize = size_of::<usize>();

/// The words of an object of fixed size.
pub(super) fn words(object: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    let size: usize = object.get_type().getattr(name!("__basicsize__"))?.extract()?;
    let base = object.as_ptr().cast::<u8>();
    // SAFETY: a live object of this size; its fields are words.
    Ok((0..size / WORD).map(|word| unsafe { read(base, word * WORD) }).collect())
}

/// The offset of the only word where `differs` holds.
pub(super) fn only(count: usize, differs: impl Fn(usize) -> bool) -> Option<usize> {
    let mut found = (0..count).filter(|word| differs(*word));
    found.next().filter(|_| found.next().is_none()).map(|word| word * WORD)
}
