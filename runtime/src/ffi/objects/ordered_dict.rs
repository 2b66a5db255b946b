//! `collections.OrderedDict` of C: its keys have an order of their own, beside that of its table.
use crate::ffi::{exported, types};
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use std::collections::HashMap;

/// `collections.OrderedDict` of C.
pub fn class(py: Python<'_>) -> Option<Bound<'_, PyType>> {
    exported::global(py, "PyODict_Type")?.cast_into().ok()
}

/// Whether the object is a `collections.OrderedDict` of C, of no derived class.
pub fn is_ordered_dict(object: &Bound<'_, PyAny>) -> bool {
    class(object.py()).is_some_and(|class| object.get_type().is(&class))
}

/// The same, or an instance of a derived class.
pub fn is_derived(object: &Bound<'_, PyAny>) -> bool {
    class(object.py()).is_some_and(|class| types::is_subtype(&object.get_type(), &class))
}

/// A `dict` or an `OrderedDict`, none of a derived class.
pub fn exact<'a, 'py>(object: &'a Bound<'py, PyAny>) -> Option<&'a Bound<'py, PyDict>> {
    let exact = object.cast_exact::<PyDict>().ok();
    exact.or_else(|| object.cast::<PyDict>().ok().filter(|_| is_ordered_dict(object)))
}

/// The keys of an `OrderedDict`, or of an instance of a derived class, in its order, which need not be that of its table; they are hashed for
/// that. Methods of the derived class are not asked.
pub fn order<'py>(ordered: &Bound<'py, PyDict>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    match class(ordered.py()) {
        Some(class) => order_by(&class, ordered),
        None => ordered.as_any().try_iter()?.collect(),
    }
}

/// In which order the keys of the table are those of an `OrderedDict`; `None` where that is the table's own.
pub fn places(dict: &Bound<'_, PyDict>) -> PyResult<Option<Vec<usize>>> {
    if !is_derived(dict) {
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
