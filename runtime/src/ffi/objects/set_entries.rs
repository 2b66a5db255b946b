//! Entries of sets: those that C meets where it looks for a key of a given hash; put in and taken out without code of the program.
//!
//! CPython: `Objects/setobject.c`.
use super::dict_table::Held;
use super::set_table::{Entry, SetLayout, SetObject, dummy, is_laid_out};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PySet;
use std::ptr;

/// `LINEAR_PROBES` and `PERTURB_SHIFT`.
const LINEAR_PROBES: usize = 9;
const PERTURB_SHIFT: u32 = 5;

/// All keys with their hashes, in the order of the table; `None` where it is no set of this layout.
pub(super) fn all<'py>(set: &Bound<'py, PyAny>) -> Option<Vec<Held<'py>>> {
    let layout = SetLayout::of(set).ok()??;
    let keys = layout.keys(set.py());
    Some(layout.hashes().zip(keys.iter()).map(|(hash, key)| Held { hash, key, value: None }).collect())
}

/// The keys on the way that C goes through the table for a key of this hash, in their order; `None` where it is no set of this layout.
pub(super) fn on_the_way<'py>(set: &Bound<'py, PyAny>, hash: isize) -> Option<Vec<Held<'py>>> {
    let way = entries_on_the_way(set, hash)?.into_iter().filter(|entry| entry.hash != -1);
    // SAFETY: a live set refers to its keys.
    let key = |entry: Entry| unsafe { Bound::from_borrowed_ptr(set.py(), entry.key) };
    Some(way.map(|entry| Held { hash: entry.hash, key: key(entry), value: None }).collect())
}

/// The entries on that way, those of removed keys, too. CPython: `set_lookkey`.
fn entries_on_the_way(set: &Bound<'_, PyAny>, hash: isize) -> Option<Vec<Entry>> {
    let mut entries = Vec::new();
    if !is_laid_out(set).unwrap_or(false) {
        return None;
    }
    // SAFETY: a live set of this layout, whose table has `mask + 1` entries, of which one is empty.
    unsafe {
        let raw: *const SetObject = set.as_ptr().cast();
        let mask = usize::try_from((*raw).mask).ok()?;
        let (mut perturb, mut at) = (hash as usize, hash as usize & mask);
        loop {
            let probes = if at + LINEAR_PROBES <= mask { LINEAR_PROBES } else { 0 };
            for place in at..=at + probes {
                let entry = *(*raw).table.add(place);
                if entry.key.is_null() && entry.hash == 0 {
                    return Some(entries);
                }
                entries.push(entry);
            }
            perturb >>= PERTURB_SHIFT;
            at = at.wrapping_mul(5).wrapping_add(1).wrapping_add(perturb) & mask;
        }
    }
}

/// The entry of an object that a set holds under this hash.
fn entry_of(set: &Bound<'_, PySet>, hash: isize, key: &Bound<'_, PyAny>) -> PyResult<*mut Entry> {
    if is_laid_out(set)? {
        // SAFETY: a live set of this layout, whose table has `mask + 1` entries.
        unsafe {
            let raw: *mut SetObject = set.as_ptr().cast();
            let size = usize::try_from((*raw).mask).unwrap_or(0) + 1;
            for at in 0..size {
                let entry = (*raw).table.add(at);
                if (*entry).hash == hash && ptr::eq((*entry).key, key.as_ptr()) {
                    return Ok(entry);
                }
            }
        }
    }
    Err(PyKeyError::new_err("the set does not hold the object under this hash"))
}

/// Puts another key in the place of one.
pub(super) fn exchange(
    set: &Bound<'_, PySet>,
    held: &Bound<'_, PyAny>,
    hash: isize,
    key: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let entry = entry_of(set, hash, held)?;
    // SAFETY: the entry lies in the table of a live set, which owns a reference to what it holds; the reference to `held` goes to the caller's
    // drop below.
    let before =
        unsafe { Bound::from_owned_ptr(set.py(), std::mem::replace(&mut (*entry).key, key.clone().into_ptr())) };
    drop(before);
    Ok(())
}

/// Takes out a key that a set holds under this hash. CPython: `set_discard_entry`.
pub(super) fn discard(set: &Bound<'_, PySet>, hash: isize, key: &Bound<'_, PyAny>) -> PyResult<()> {
    let entry = entry_of(set, hash, key)?;
    // SAFETY: the entry lies in the table of a live set, which owned a reference to its key; all fields fit before that is dropped.
    let gone = unsafe {
        let gone = (*entry).key;
        *entry = Entry { key: dummy(), hash: -1 };
        let raw: *mut SetObject = set.as_ptr().cast();
        (*raw).used -= 1;
        Bound::from_owned_ptr(set.py(), gone)
    };
    drop(gone);
    Ok(())
}
