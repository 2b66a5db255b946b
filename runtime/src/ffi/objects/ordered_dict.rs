//! `collections.OrderedDict` of C: its keys have an order of their own, beside that of its table.
use crate::ffi::exported;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use std::collections::HashMap;

/// Whether the object is a `collections.OrderedDict` of C.
pub fn is_ordered_dict(object: &Bound<'_, PyAny>) -> bool {
    exported::global(object.py(), "PyODict_Type").is_some_and(|class| object.get_type().is(&class))
}

/// A `dict` or an `OrderedDict`, none of a derived class.
pub fn exact<'a, 'py>(object: &'a Bound<'py, PyAny>) -> Option<&'a Bound<'py, PyDict>> {
    let exact = object.cast_exact::<PyDict>().ok();
    exact.or_else(|| object.cast::<PyDict>().ok().filter(|_| is_ordered_dict(object)))
}

/// The keys of an `OrderedDict` in its order, which need not be that of its table; they are hashed for that.
pub fn order<'py>(ordered: &Bound<'py, PyDict>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    ordered.as_any().try_iter()?.collect()
}

/// In which order the keys of the table are those of an `OrderedDict`; `None` where that is the table's own.
pub fn places(dict: &Bound<'_, PyDict>) -> PyResult<Option<Vec<usize>>> {
    if !is_ordered_dict(dict) {
        return Ok(None);
    }
    let (order, table) = (order(dict)?, dict.keys());
    if order.iter().zip(&table).all(|(key, stored)| key.is(&stored)) {
        return Ok(None);
    }
    let stored: HashMap<_, _> = table.iter().enumerate().map(|(place, key)| (key.as_ptr() as usize, place)).collect();
    Ok(Some(order.iter().filter_map(|key| stored.get(&(key.as_ptr() as usize)).copied()).collect()))
}

/// The keys of an instance of a derived class, whose methods are not asked; `class` is `OrderedDict`.
pub fn order_by<'py>(class: &Bound<'py, PyType>, derived: &Bound<'py, PyDict>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    class.getattr(name!("__iter__"))?.call1((derived,))?.try_iter()?.collect()
}
