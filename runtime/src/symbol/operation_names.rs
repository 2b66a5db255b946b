//! Operations by the names that Python and C have for them.
use super::functions::Function;
use super::operation::Operation;

impl Operation {
    /// By the name in the module `operator`; those in place are the same.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "add" | "iadd" => Self::Add,
            "sub" | "isub" => Self::Subtract,
            "mul" | "imul" => Self::Multiply,
            "truediv" | "itruediv" => Self::TrueDivide,
            "floordiv" | "ifloordiv" => Self::FloorDivide,
            "mod" | "imod" => Self::Remainder,
            "pow" | "ipow" => Self::Power,
            "lshift" | "ilshift" => Self::ShiftLeft,
            "rshift" | "irshift" => Self::ShiftRight,
            "and_" | "iand" => Self::And,
            "or_" | "ior" => Self::Or,
            "xor" | "ixor" => Self::Xor,
            "neg" => Self::Negative,
            "pos" => Self::Positive,
            "abs" => Self::Absolute,
            "invert" => Self::Invert,
            _ => return None,
        })
    }

    /// By the slot in which `int` or `float` has a function, and whether that is `float`'s: what the functions are called in C differs
    /// from release to release, but for the class that they begin with.
    #[must_use]
    pub fn of_slot(function: &str, slot: &str) -> Option<(Self, bool)> {
        let of_float = match function.split_once('_')?.0 {
            "float" => true,
            "long" => false,
            _ => return None,
        };
        let operation = match slot {
            "nb_add" => Self::Add,
            "nb_subtract" => Self::Subtract,
            "nb_multiply" => Self::Multiply,
            "nb_true_divide" => Self::TrueDivide,
            "nb_floor_divide" => Self::FloorDivide,
            "nb_remainder" => Self::Remainder,
            "nb_power" => Self::Power,
            "nb_lshift" => Self::ShiftLeft,
            "nb_rshift" => Self::ShiftRight,
            "nb_and" => Self::And,
            "nb_or" => Self::Or,
            "nb_xor" => Self::Xor,
            _ => return None,
        };
        Some((operation, of_float))
    }

    /// Those that `math` has under a name.
    #[must_use]
    pub fn of_math(name: &str) -> Option<Self> {
        Some(match name {
            "sqrt" => Self::SquareRoot,
            "floor" => Self::Floor,
            "ceil" => Self::Ceiling,
            "trunc" => Self::Truncate,
            "gcd" => Self::CommonDivisor,
            "lcm" => Self::CommonMultiple,
            "isqrt" => Self::IntegerRoot,
            name => Self::Function(Function::named(name)?),
        })
    }
}
