//! Operations whose results have the same metadata whatever number an operand is: only its class, `int` or `float`, decides.
use crate::domain::Callee;
use crate::domain::torch::functions::kinds::OVERRIDES;
use crate::domain::torch::library::Torch;
use crate::ffi::callee;

/// Slots.
const SLOTS: &[&str] = &["tp_richcompare"];

/// Functions and methods, without the underscores of operators and of changes in place, that do with a tensor without dimensions what they do
/// with the float in it.
const ARITHMETIC: &[&str] = &[
    "add",
    "radd",
    "iadd",
    "sub",
    "rsub",
    "isub",
    "subtract",
    "mul",
    "rmul",
    "imul",
    "multiply",
    "div",
    "idiv",
    "truediv",
    "itruediv",
    "divide",
    "true_divide",
];

/// Others that take numbers, written in the same way.
const CALLS: &[&str] = &[
    "rdiv",
    "rtruediv",
    "floordiv",
    "rfloordiv",
    "ifloordiv",
    "floor_divide",
    "mod",
    "rmod",
    "imod",
    "remainder",
    "fmod",
    "pow",
    "rpow",
    "ipow",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "less",
    "less_equal",
    "greater",
    "greater_equal",
    "not_equal",
    "clamp",
    "clamp_min",
    "clamp_max",
    "clip",
    "where",
    "masked_fill",
    "fill",
    "addcmul",
    "addcdiv",
    "lerp",
    "tensor",
    "new_tensor",
    "as_tensor",
    "scalar_tensor",
];

/// Whether the slot's function takes numbers.
fn in_slot(slot: &str) -> bool {
    SLOTS.contains(&slot)
}

/// Whether a function or method of this name does.
fn in_call(name: &str) -> bool {
    is_arithmetic(name) || CALLS.contains(&name.trim_matches('_'))
}

/// Whether a tensor without dimensions may stand for the float among the operands of the function or method of this name.
pub(super) fn is_arithmetic(name: &str) -> bool {
    ARITHMETIC.contains(&name.trim_matches('_'))
}

impl Torch {
    /// Whether numbers among the operands of an operation may be symbolic: they are contents.
    pub(in crate::domain::torch) fn takes_numbers_in(&self, callee: &Callee<'_>) -> bool {
        match callee {
            Callee::Slot(slot) => in_slot(slot),
            Callee::Function(function) => {
                let name = callee::name_of(function);
                !self.is_operator(function) && (in_call(&name) || OVERRIDES.contains(&&*name))
            }
            Callee::Method(name) => in_call(name),
            Callee::GetAttr(_) => false,
        }
    }
}
