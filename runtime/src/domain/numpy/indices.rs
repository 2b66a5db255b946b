//! Indices that are known while tracing.
use crate::domain::Operand;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PyInt, PyNone, PySlice, PyString, PyTuple};

/// Whether an index is of integers, slices, `None`, `...`, names, and tuples of these.
pub(super) fn is_basic(index: &Operand<'_>) -> bool {
    match index {
        Operand::Known(object) => is_basic_object(object),
        Operand::Tuple(items) => items.iter().all(is_basic),
        Operand::Slice(parts) => parts.iter().all(|part| matches!(part, Operand::Known(_))),
        Operand::Graph { .. } | Operand::Number { .. } | Operand::List(_) | Operand::Foreign(_) => false,
    }
}

fn is_basic_object(object: &Bound<'_, PyAny>) -> bool {
    let exact = object.is_exact_instance_of::<PyInt>()
        || object.is_exact_instance_of::<PyBool>()
        || object.is_exact_instance_of::<PyNone>()
        || object.is_exact_instance_of::<PyEllipsis>()
        || object.is_exact_instance_of::<PySlice>()
        || object.is_exact_instance_of::<PyString>();
    exact || object.cast_exact::<PyTuple>().is_ok_and(|items| items.iter().all(|item| is_basic_object(&item)))
}
