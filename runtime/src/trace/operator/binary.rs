//! Binary operators: from the operator's name to the generated `PyNumber_*` function.
use crate::ffi::callee;
use crate::semantics::abstract_ as protocol;
use crate::trace::release;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;

/// Whether it is a function of C with this name. CPython: `binary_op`.
fn is_print(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<pyo3::types::PyCFunction>() && callee::name_of(object) == "print"
}

impl<'py> Tracer<'py> {
    pub(crate) fn binary_by_slots(&mut self, name: &str, left: ValueId, right: ValueId) -> Traced<ValueId> {
        if release::PRINT_IS_LIKE_ANY && name == "rshift" && self.known(left).is_some_and(|left| is_print(&left)) {
            return unsupported("operator", "print >> …, whose error is worded otherwise");
        }
        if let Some(text) = self.text_operation(name, left, right)? {
            return Ok(text);
        }
        macro_rules! number {
            ($($operator:literal => $function:ident),* $(,)?) => {
                match name {
                    $($operator => protocol::$function(self, &left, &right),)*
                    "pow" | "ipow" => self.power(name, left, right),
                    _ => unsupported("operator", name),
                }
            };
        }
        number! {
            "add" => PyNumber_Add,
            "sub" => PyNumber_Subtract,
            "mul" => PyNumber_Multiply,
            "mod" => PyNumber_Remainder,
            "lshift" => PyNumber_Lshift,
            "rshift" => PyNumber_Rshift,
            "and_" => PyNumber_And,
            "xor" => PyNumber_Xor,
            "or_" => PyNumber_Or,
            "floordiv" => PyNumber_FloorDivide,
            "truediv" => PyNumber_TrueDivide,
            "matmul" => PyNumber_MatrixMultiply,
            "iadd" => PyNumber_InPlaceAdd,
            "isub" => PyNumber_InPlaceSubtract,
            "imul" => PyNumber_InPlaceMultiply,
            "imod" => PyNumber_InPlaceRemainder,
            "ilshift" => PyNumber_InPlaceLshift,
            "irshift" => PyNumber_InPlaceRshift,
            "iand" => PyNumber_InPlaceAnd,
            "ixor" => PyNumber_InPlaceXor,
            "ior" => PyNumber_InPlaceOr,
            "ifloordiv" => PyNumber_InPlaceFloorDivide,
            "itruediv" => PyNumber_InPlaceTrueDivide,
            "imatmul" => PyNumber_InPlaceMatrixMultiply,
        }
    }

    fn power(&mut self, name: &str, left: ValueId, right: ValueId) -> Traced<ValueId> {
        let none = self.none();
        if name == "pow" {
            return protocol::PyNumber_Power(self, &left, &right, &none);
        }
        protocol::PyNumber_InPlacePower(self, &left, &right, &none)
    }
}
