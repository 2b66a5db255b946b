//! Results that are operands themselves: `torch.broadcast_tensors(x, y)` gives `x` where it has that shape.
use crate::domain::Operand;
use crate::graph::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

/// The operand that a result is, by the objects that stood for the operands; those within tuples and lists are looked at.
pub(super) fn operand_that_is<'py>(
    result: &Bound<'py, PyAny>,
    operands: &[Operand<'py>],
    objects: &[Bound<'py, PyAny>],
) -> Option<ValueId> {
    operands.iter().zip(objects).find_map(|(operand, object)| match operand {
        Operand::Graph { value, .. } => object.is(result).then_some(*value),
        Operand::Tuple(items) | Operand::List(items) => operand_that_is(result, items, &items_of(object)?),
        _ => None,
    })
}

fn items_of<'py>(object: &Bound<'py, PyAny>) -> Option<Vec<Bound<'py, PyAny>>> {
    match object.cast::<PyTuple>() {
        Ok(tuple) => Some(tuple.iter().collect()),
        Err(_) => object.cast::<PyList>().ok().map(|list| list.iter().collect()),
    }
}
