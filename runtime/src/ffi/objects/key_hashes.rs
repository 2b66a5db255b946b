//! Entries of dicts and sets by the hash that C keeps with their keys: found, added and taken out without code of the program.
use super::dict_table;
pub use super::dict_table::Held;
use super::set_entries;
use crate::ffi::types;
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyFrozenSet, PySet, PyTuple};
use std::ffi::c_int;

unsafe extern "C" {
    fn _PyDict_SetItem_KnownHash(
        dict: *mut ffi::PyObject,
        key: *mut ffi::PyObject,
        value: *mut ffi::PyObject,
        hash: ffi::Py_hash_t,
    ) -> c_int;
    fn _PyDict_DelItem_KnownHash(dict: *mut ffi::PyObject, key: *mut ffi::PyObject, hash: ffi::Py_hash_t) -> c_int;
}

/// The entries with which C compares a key of this hash, in its order; `None`: it is no dict and no set, or laid out in a way that is not known.
#[must_use]
pub fn with_hash<'py>(container: &Bound<'py, PyAny>, hash: isize) -> Option<Vec<Held<'py>>> {
    let mut met = on_the_way(container, hash)?;
    met.retain(|held| held.hash == hash);
    Some(met)
}

/// All keys with their hashes, in their order.
#[must_use]
pub fn all<'py>(container: &Bound<'py, PyAny>) -> Option<Vec<Held<'py>>> {
    match container.cast::<PyDict>() {
        Ok(dict) => dict_table::all(dict),
        Err(_) => set_entries::all(container),
    }
}

/// Whether no two keys have one hash: else C would compare them where the copy is filled.
#[must_use]
pub fn are_distinct(held: &[Held<'_>]) -> bool {
    let mut seen = rustc_hash::FxHashSet::default();
    held.iter().all(|held| seen.insert(held.hash))
}

fn on_the_way<'py>(container: &Bound<'py, PyAny>, hash: isize) -> Option<Vec<Held<'py>>> {
    match container.cast::<PyDict>() {
        Ok(dict) => dict_table::on_the_way(dict, hash),
        Err(_) => set_entries::on_the_way(container, hash),
    }
}

/// Whether C finds the key itself in a dict, for it meets it on its way, although its hash was another when it was put there.
#[must_use]
pub fn is_met_under_another_hash(container: &Bound<'_, PyAny>, key: &Bound<'_, PyAny>, hash: isize) -> bool {
    container.cast::<PyDict>().is_ok_and(|dict| {
        let met = dict_table::on_the_way(dict, hash);
        met.is_none_or(|met| met.iter().any(|held| held.key.is(key) && held.hash != hash))
    })
}

/// Whether C may run code of the program where it looks for a key that it compares itself: the container holds one of the same hash that it
/// asks for its `__eq__`.
#[must_use]
pub fn runs_code_for(container: &Bound<'_, PyAny>, key: &Bound<'_, PyAny>) -> bool {
    if container.cast::<PyDict>().is_ok_and(dict_table::holds_texts) {
        return false;
    }
    let met = key.hash().ok().and_then(|hash| with_hash(container, hash));
    met.is_some_and(|met| met.iter().any(|held| !held.key.is(key) && !is_compared_by_c(&held.key)))
}

/// Whether code of Python hashes a key.
#[must_use]
pub fn is_hashed_in_python(key: &Bound<'_, PyAny>) -> bool {
    use generated::slots::Slot;
    let (class, plain) = (key.get_type(), key.py().get_type::<PyAny>());
    !types::is_c_type(&class) && types::slot(&class, Slot::tp_hash) != types::slot(&plain, Slot::tp_hash)
}

/// What a container holds for a key whose hash is that of its `id()`, without asking the key; `None`: another key of this hash is there, too.
#[must_use]
pub fn under_id<'py>(container: &Bound<'py, PyAny>, key: &Bound<'py, PyAny>) -> Option<Option<Held<'py>>> {
    let id = (key.as_ptr() as usize).into_pyobject(key.py()).ok()?;
    let mut met = with_hash(container, id.hash().ok()?)?;
    // C may meet an entry again on its way.
    if met.iter().all(|held| held.key.is(key)) { Some(met.pop()) } else { None }
}

fn is_compared_by_c(key: &Bound<'_, PyAny>) -> bool {
    let items = match key.cast::<PyTuple>() {
        Ok(tuple) => tuple.iter().collect(),
        Err(_) => key.cast::<PyFrozenSet>().map(|set| set.iter().collect::<Vec<_>>()).unwrap_or_default(),
    };
    types::is_c_type(&key.get_type()) && items.iter().all(is_compared_by_c)
}

/// The keys of these entries. Called by compiled code, too.
///
/// # Errors
/// Where it is neither a dict nor a set.
#[pyfunction]
pub fn keys_with_hash<'py>(container: &Bound<'py, PyAny>, hash: isize) -> PyResult<Bound<'py, PyTuple>> {
    let met = with_hash(container, hash).ok_or_else(|| PyTypeError::new_err("no dict and no set"))?;
    PyTuple::new(container.py(), met.into_iter().map(|held| held.key))
}

/// The values of these entries of a dict. Called by compiled code, too.
///
/// # Errors
/// Where it is none.
#[pyfunction]
pub fn values_with_hash<'py>(container: &Bound<'py, PyAny>, hash: isize) -> PyResult<Bound<'py, PyTuple>> {
    let met = with_hash(container, hash).ok_or_else(|| PyTypeError::new_err("no dict and no set"))?;
    PyTuple::new(container.py(), met.into_iter().filter_map(|held| held.value).collect::<Vec<_>>())
}

/// What compiled code calls to change an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// `(dict, hash, key, value)`: no key that is there has this hash.
    InsertEntry,
    /// `(dict, hash, key, value)`: this very key is there, before all others of this hash.
    ReplaceEntry,
    /// `(set, hash, key)`: no key that is there has this hash.
    InsertItem,
    /// `(container, hash, key)`: this very key is there, before all others of this hash.
    Remove,
}

const CHANGES: [Change; 4] = [Change::InsertEntry, Change::ReplaceEntry, Change::InsertItem, Change::Remove];

impl Change {
    /// The function.
    ///
    /// # Errors
    /// Where memory is short.
    pub fn function(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        let index = CHANGES.iter().position(|change| *change == self).unwrap_or_default();
        Ok(functions(py)?[index].bind(py).clone())
    }

    /// Which one a function is.
    #[must_use]
    pub fn of(function: &Bound<'_, PyAny>) -> Option<Self> {
        let functions = functions(function.py()).ok()?;
        Some(CHANGES[functions.iter().position(|own| own.is(function))?])
    }
}

fn functions(py: Python<'_>) -> PyResult<&'static [Py<PyAny>; 4]> {
    static FUNCTIONS: PyOnceLock<[Py<PyAny>; 4]> = PyOnceLock::new();
    FUNCTIONS.get_or_try_init(py, || {
        Ok([
            pyo3::wrap_pyfunction!(insert_entry, py)?.into_any().unbind(),
            pyo3::wrap_pyfunction!(replace_entry, py)?.into_any().unbind(),
            pyo3::wrap_pyfunction!(insert_item, py)?.into_any().unbind(),
            pyo3::wrap_pyfunction!(remove_key, py)?.into_any().unbind(),
        ])
    })
}

#[pyfunction]
fn insert_entry(
    dict: &Bound<'_, PyDict>,
    hash: isize,
    key: &Bound<'_, PyAny>,
    value: &Bound<'_, PyAny>,
) -> PyResult<()> {
    // SAFETY: a live dict, live objects.
    let done = unsafe { _PyDict_SetItem_KnownHash(dict.as_ptr(), key.as_ptr(), value.as_ptr(), hash) };
    if done == 0 { Ok(()) } else { Err(PyErr::fetch(dict.py())) }
}

#[pyfunction]
fn replace_entry(
    dict: &Bound<'_, PyDict>,
    hash: isize,
    key: &Bound<'_, PyAny>,
    value: &Bound<'_, PyAny>,
) -> PyResult<()> {
    insert_entry(dict, hash, key, value)
}

#[pyfunction]
fn insert_item(set: &Bound<'_, PySet>, hash: isize, key: &Bound<'_, PyAny>) -> PyResult<()> {
    let stand_in = Bound::new(set.py(), StandIn { hash })?.into_any();
    set.add(&stand_in)?;
    set_entries::exchange(set, &stand_in, hash, key)
}

#[pyfunction]
fn remove_key(container: &Bound<'_, PyAny>, hash: isize, key: &Bound<'_, PyAny>) -> PyResult<()> {
    let Ok(dict) = container.cast::<PyDict>() else {
        return set_entries::discard(container.cast::<PySet>()?, hash, key);
    };
    // SAFETY: a live dict, a live object.
    let done = unsafe { _PyDict_DelItem_KnownHash(dict.as_ptr(), key.as_ptr(), hash) };
    if done == 0 { Ok(()) } else { Err(PyErr::fetch(dict.py())) }
}

/// Takes the place of a key for which C looks for a place in a set: it is asked for the hash alone.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
struct StandIn {
    hash: isize,
}

#[pymethods]
impl StandIn {
    fn __hash__(&self) -> isize {
        self.hash
    }
}

/// Whether a class has no `__hash__`. CPython: `PyObject_HashNotImplemented`.
#[must_use]
pub fn is_unhashable(class: &Bound<'_, pyo3::types::PyType>) -> bool {
    use generated::slots::Slot;
    let list = class.py().get_type::<pyo3::types::PyList>();
    types::slot(class, Slot::tp_hash).is_none_or(|slot| types::slot(&list, Slot::tp_hash) == Some(slot))
}
