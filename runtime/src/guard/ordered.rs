//! Dicts of C that have an order: `dict` itself, and `OrderedDict`, whose order is its own.
use crate::ffi::native;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rustc_hash::FxHashMap;

/// Whether the object is a `collections.OrderedDict` of C.
pub fn is_ordered_dict(object: &Bound<'_, PyAny>) -> bool {
    native::global(object.py(), "PyODict_Type").is_some_and(|class| object.get_type().is(&class))
}

/// A `dict` or an `OrderedDict`, none of a derived class.
pub fn exact<'a, 'py>(object: &'a Bound<'py, PyAny>) -> Option<&'a Bound<'py, PyDict>> {
    let exact = object.cast_exact::<PyDict>().ok();
    exact.or_else(|| object.cast::<PyDict>().ok().filter(|_| is_ordered_dict(object)))
}

/// Keys in the order that the program sees; those of an `OrderedDict` are hashed for that.
pub fn keys<'py>(dict: &Bound<'py, PyDict>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    if is_ordered_dict(dict) { dict.as_any().try_iter()?.collect() } else { Ok(dict.keys().iter().collect()) }
}

/// Keys and values in that order.
pub fn pairs<'py>(dict: &Bound<'py, PyDict>) -> PyResult<Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>> {
    if !is_ordered_dict(dict) {
        return Ok(dict.iter().collect());
    }
    let values: FxHashMap<usize, Bound<'py, PyAny>> =
        dict.iter().map(|(key, value)| (key.as_ptr() as usize, value)).collect();
    let keys = keys(dict)?.into_iter();
    Ok(keys.filter_map(|key| values.get(&(key.as_ptr() as usize)).cloned().map(|value| (key, value))).collect())
}
