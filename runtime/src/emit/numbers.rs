//! Numbers that are computed again: the operations that the program has, on what comes in.
use super::failure::Failure;
use super::writer::Writer;
use crate::bytecode::Op;
use crate::ffi::snapshot::original;
use crate::symbol::Operation;
use crate::trace::state::computed_number::{Computation, ComputedNumber};

/// The argument of `BINARY_OP`. CPython: `NB_*` of `Include/opcode.h`.
fn binary(operation: Operation) -> Option<u32> {
    Some(match operation {
        Operation::Add => 0,
        Operation::And => 1,
        Operation::FloorDivide => 2,
        Operation::ShiftLeft => 3,
        Operation::Multiply => 5,
        Operation::Remainder => 6,
        Operation::Or => 7,
        Operation::Power => 8,
        Operation::ShiftRight => 9,
        Operation::Subtract => 10,
        Operation::TrueDivide => 11,
        Operation::Xor => 12,
        Operation::Negative
        | Operation::Positive
        | Operation::Absolute
        | Operation::Invert
        | Operation::ToFloat
        | Operation::ToSingle
        | Operation::SquareRoot
        | Operation::Floor
        | Operation::Ceiling
        | Operation::Truncate
        | Operation::Round
        | Operation::Function(_)
        | Operation::CommonDivisor
        | Operation::CommonMultiple
        | Operation::IntegerRoot
        | Operation::Least
        | Operation::Greatest
        | Operation::RoundTo
        | Operation::BitLength => return None,
    })
}

impl Writer<'_, '_> {
    /// Pushes the number.
    pub(super) fn compute(&mut self, number: &ComputedNumber) -> Result<(), Failure> {
        let load = |writer: &mut Self| number.operands.iter().try_for_each(|operand| writer.load(*operand));
        if let Computation::Operation(operation) = number.computation
            && let Some(operator) = binary(operation)
        {
            load(self)?;
            self.plain(Op::BINARY_OP, operator);
            return Ok(());
        }
        let (module, name) = number.computation.function();
        self.callee(original(self.py, module, name)?);
        load(self)?;
        self.call(number.operands.len() as u32);
        Ok(())
    }
}
