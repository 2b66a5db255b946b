//! Tuples of derived classes, past constructors that look at the items.
use super::slot_call::{Signature, call};
use super::slots::slot_pointer;
use generated::slots::Slot;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

/// A tuple of a class derived from `tuple`, as `tuple` itself makes it.
pub fn tuple_of<'py>(class: &Bound<'py, PyType>, items: Vec<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    let args = PyTuple::new(py, [PyTuple::new(py, items)?])?;
    let pointer = slot_pointer(&py.get_type::<PyTuple>(), Slot::tp_new.suite(), Slot::tp_new.offset()).unwrap_or(0);
    call(pointer, &[class.clone().into_any(), args.into_any()], Signature::Ternary)
}
