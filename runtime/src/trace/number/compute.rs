//! Operations on the numbers of the call that is traced.
use super::inputs::Numeral;
use crate::ffi::snapshot::original;
use crate::guard::number;
use crate::symbol::{Number, Operation};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat};

/// What Python gives for the numbers of this call.
pub(super) fn compute<'py>(operation: Operation, operands: &[Numeral<'py>]) -> PyResult<Bound<'py, PyAny>> {
    let [left, rest @ ..] = operands else { return Err(pyo3::exceptions::PyTypeError::new_err("no operand")) };
    let left = &left.hint;
    let right = rest.first().map_or(left, |right| &right.hint);
    match operation {
        Operation::Add => left.add(right),
        Operation::Subtract => left.sub(right),
        Operation::Multiply => left.mul(right),
        Operation::TrueDivide => left.div(right),
        Operation::FloorDivide => left.floor_div(right),
        Operation::Remainder => left.rem(right),
        Operation::Power => left.pow(right, left.py().None()),
        Operation::ShiftLeft => left.lshift(right),
        Operation::ShiftRight => left.rshift(right),
        Operation::And => left.bitand(right),
        Operation::Or => left.bitor(right),
        Operation::Xor => left.bitxor(right),
        Operation::Negative => left.neg(),
        Operation::Positive => left.pos(),
        Operation::Absolute => left.abs(),
        Operation::Invert => left.bitnot(),
        Operation::CommonDivisor
        | Operation::CommonMultiple
        | Operation::Least
        | Operation::Greatest
        | Operation::RoundTo => original(left.py(), operation.module(), operation.name())?.call1((left, right)),
        Operation::SquareRoot
        | Operation::Floor
        | Operation::Ceiling
        | Operation::Truncate
        | Operation::Round
        | Operation::Function(_)
        | Operation::IntegerRoot
        | Operation::BitLength => original(left.py(), operation.module(), operation.name())?.call1((left,)),
        Operation::ToSingle => {
            let number = number(left).and_then(|number| operation.apply(&[number]));
            match number {
                Some(Number::Float(single)) => Ok(PyFloat::new(left.py(), single).into_any()),
                _ => Err(pyo3::exceptions::PyOverflowError::new_err("no float of 32 bits")),
            }
        }
        Operation::ToFloat => {
            let truth = left.is_exact_instance_of::<PyBool>();
            if truth { Ok(left.clone()) } else { left.py().get_type::<PyFloat>().call1((left,)) }
        }
    }
}
