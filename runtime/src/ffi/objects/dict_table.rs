//! Hash tables of dicts: the entries that C meets where it looks for a key of a given hash.
//!
//! CPython: `Objects/dictobject.c`, `Include/internal/pycore_dict.h`.
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyInt, PyTuple};
use std::ffi::c_void;

/// `PERTURB_SHIFT`.
const PERTURB_SHIFT: u32 = 5;

/// `DKIX_EMPTY`.
const EMPTY: i64 = -1;

/// `DICT_KEYS_GENERAL`, `DICT_KEYS_UNICODE`.
const GENERAL: u8 = 0;
const UNICODE: u8 = 1;

/// `PyDictObject`.
#[repr(C)]
struct DictObject {
    head: ffi::PyObject,
    used: isize,
    version: u64,
    keys: *const Keys,
    values: *const c_void,
}

/// `PyDictKeysObject`, up to its indices.
#[repr(C)]
struct Keys {
    references: isize,
    log2_size: u8,
    log2_index_bytes: u8,
    kind: u8,
    version: u32,
    usable: isize,
    count: isize,
}

/// `PyDictKeyEntry`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Entry {
    hash: isize,
    key: *mut ffi::PyObject,
    value: *mut ffi::PyObject,
}

/// `PyDictUnicodeEntry`.
#[repr(C)]
#[derive(Clone, Copy)]
struct TextEntry {
    key: *mut ffi::PyObject,
    value: *mut ffi::PyObject,
}

/// An entry, and the hash that C keeps with it.
#[derive(Clone, Debug)]
pub struct Held<'py> {
    /// That hash.
    pub hash: isize,
    /// The key.
    pub key: Bound<'py, PyAny>,
    /// Of a dict's entry.
    pub value: Option<Bound<'py, PyAny>>,
}

/// The entries on the way that C goes through the table for a key of this hash, in their order; `None` where this interpreter lays dicts out in
/// another way, or the dict is the namespace of instances that share their keys.
pub fn on_the_way<'py>(dict: &Bound<'py, PyDict>, hash: isize) -> Option<Vec<Held<'py>>> {
    if !is_laid_out(dict.py()) {
        return None;
    }
    // SAFETY: a live dict of this layout.
    let entries = unsafe { raw_way(dict, hash)? };
    Some(entries.into_iter().map(|entry| held(dict, entry)).collect())
}

/// Whether all keys are texts, which C compares without code of the program.
pub fn holds_texts(dict: &Bound<'_, PyDict>) -> bool {
    if !is_laid_out(dict.py()) {
        return false;
    }
    let raw: *const DictObject = dict.as_ptr().cast();
    // SAFETY: a live dict of this layout.
    unsafe { (*(*raw).keys).kind != GENERAL }
}

/// All entries, in their order; `None` as above.
pub fn all<'py>(dict: &Bound<'py, PyDict>) -> Option<Vec<Held<'py>>> {
    if !is_laid_out(dict.py()) {
        return None;
    }
    // SAFETY: a live dict of this layout, with `count` entries.
    let entries: Vec<_> = unsafe {
        let keys = keys_of(dict)?;
        (0..usize::try_from((*keys).count).ok()?).map(|index| entry_at(keys, index)).collect()
    };
    let is_there = |entry: &Entry| !entry.key.is_null() && !entry.value.is_null();
    Some(entries.into_iter().filter(is_there).map(|entry| held(dict, entry)).collect())
}

fn held<'py>(dict: &Bound<'py, PyDict>, entry: Entry) -> Held<'py> {
    // SAFETY: a live dict refers to its keys and values.
    let (key, value) =
        unsafe { (Bound::from_borrowed_ptr(dict.py(), entry.key), Bound::from_borrowed_ptr(dict.py(), entry.value)) };
    Held { hash: entry.hash, key, value: Some(value) }
}

/// The table of a dict that does not share its keys.
///
/// # Safety
/// The dict must have this layout.
unsafe fn keys_of(dict: &Bound<'_, PyDict>) -> Option<*const Keys> {
    // SAFETY: as the caller promises.
    unsafe {
        let raw: *const DictObject = dict.as_ptr().cast();
        let is_known = (*raw).values.is_null() && matches!((*(*raw).keys).kind, GENERAL | UNICODE);
        is_known.then_some((*raw).keys)
    }
}

/// An entry of a table. The hash of a text is C's own.
///
/// # Safety
/// It must be the table of a live dict, with that many entries.
unsafe fn entry_at(keys: *const Keys, index: usize) -> Entry {
    // SAFETY: entries of the table's kind lie behind its indices; a key that is not NULL is a live object.
    unsafe {
        let entries = keys.add(1).cast::<u8>().add(1 << (*keys).log2_index_bytes);
        if (*keys).kind == GENERAL {
            return *entries.cast::<Entry>().add(index);
        }
        let TextEntry { key, value } = *entries.cast::<TextEntry>().add(index);
        let hash = if key.is_null() { 0 } else { ffi::PyObject_Hash(key) };
        Entry { hash, key, value }
    }
}

/// The same without references; no object is looked into but texts, whose hashes their entries do not have.
///
/// # Safety
/// The dict must have this layout.
unsafe fn raw_way(dict: &Bound<'_, PyDict>, hash: isize) -> Option<Vec<Entry>> {
    // SAFETY: a table has `1 << log2_size` indices, of which one is empty. Entries that were deleted are NULL.
    unsafe {
        let keys = keys_of(dict)?;
        let indices: *const u8 = keys.add(1).cast();
        let mask = (1_usize << (*keys).log2_size) - 1;
        let (mut perturb, mut at) = (hash as usize, hash as usize & mask);
        let mut found = Vec::new();
        loop {
            let index = match (*keys).log2_size {
                ..8 => i64::from(*indices.cast::<i8>().add(at)),
                8..16 => i64::from(*indices.cast::<i16>().add(at)),
                16..32 => i64::from(*indices.cast::<i32>().add(at)),
                _ => *indices.cast::<i64>().add(at),
            };
            if index == EMPTY {
                return Some(found);
            }
            if let Ok(index) = usize::try_from(index) {
                let entry = entry_at(keys, index);
                if !entry.key.is_null() && !entry.value.is_null() {
                    found.push(entry);
                }
            }
            perturb >>= PERTURB_SHIFT;
            at = mask & at.wrapping_mul(5).wrapping_add(perturb).wrapping_add(1);
        }
    }
}

/// Whether the dict shares its keys with those of other instances, so that these decide what room it has; also where this interpreter lays dicts
/// out in another way.
#[must_use]
pub fn shares_keys(dict: &Bound<'_, PyDict>) -> bool {
    let raw: *const DictObject = dict.as_ptr().cast();
    // SAFETY: a live dict, of this layout.
    !is_laid_out(dict.py()) || unsafe { !(*raw).values.is_null() }
}

/// Whether this interpreter lays dicts out as this file says: a dict of numbers and tuples shows it.
fn is_laid_out(py: Python<'_>) -> bool {
    static IS_LAID_OUT: PyOnceLock<bool> = PyOnceLock::new();
    *IS_LAID_OUT.get_or_init(py, || sample_is_laid_out(py).unwrap_or(false))
}

fn sample_is_laid_out(py: Python<'_>) -> PyResult<bool> {
    const COUNT: isize = 9;
    let size: usize = py.get_type::<PyDict>().getattr("__basicsize__")?.extract()?;
    if size != size_of::<DictObject>() {
        return Ok(false);
    }
    let sample = PyDict::new(py);
    for number in 0..COUNT {
        let key = match number % 2 {
            0 => PyInt::new(py, number * 16).into_any(),
            _ => PyTuple::new(py, [number])?.into_any(),
        };
        sample.set_item(key, PyInt::new(py, number + 1000))?;
    }
    sample.del_item(PyInt::new(py, 0))?;
    // SAFETY: the size is that of this layout; no pointer is followed before the numbers beside it are what they must be.
    let fits = unsafe {
        let raw: *const DictObject = sample.as_ptr().cast();
        let keys = (*raw).keys;
        (*raw).used == COUNT - 1
            && (*raw).values.is_null()
            && (*keys).references == 1
            && (*keys).log2_size == 4
            && (*keys).log2_index_bytes == 4
            && (*keys).kind == GENERAL
            && (*keys).count == COUNT
    };
    if !fits {
        return Ok(false);
    }
    for (key, value) in sample.iter() {
        let hash = key.hash()?;
        // SAFETY: the header was compared; the entries are compared by their addresses alone.
        let way = unsafe { raw_way(&sample, hash) }.unwrap_or_default();
        let is_there = |entry: &Entry| {
            entry.hash == hash && std::ptr::eq(entry.key, key.as_ptr()) && std::ptr::eq(entry.value, value.as_ptr())
        };
        if !way.iter().any(is_there) {
            return Ok(false);
        }
    }
    Ok(true)
}
