//! Dicts of C that have an order: `dict` itself, and `OrderedDict`, whose order is its own.
use crate::ffi::native;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Whether the object is a `collections.OrderedDict` of C.
pub fn is_ordered_dict(object: &Bound<'_, PyAny>) -> bool {
    native::global(object.py(), "PyODict_Type").is_some_and(|class| object.get_type().is(&class))
}

/// A `dict` or an `OrderedDict`, none of a derived class.
pub fn exact<'a, 'py>(object: &'a Bound<'py, PyAny>) -> Option<&'a Bound<'py, PyDict>> {
    let exact = object.cast_exact::<PyDict>().ok();
    exact.or_else(|| object.cast::<PyDict>().ok().filter(|_| is_ordered_dict(object)))
}

/// Keys as the program sees them in their order.
pub fn keys<'py>(dict: &Bound<'py, PyDict>) -> Vec<Bound<'py, PyAny>> {
    if is_ordered_dict(dict) {
        let keys = dict.as_any().try_iter().and_then(|keys| keys.collect::<PyResult<Vec<_>>>());
        return keys.unwrap_or_default();
    }
    dict.keys().iter().collect()
}
