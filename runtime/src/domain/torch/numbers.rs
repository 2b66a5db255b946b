//! Operations whose results have the same metadata whatever number an operand is: only its class, `int` or `float`, decides.
use crate::domain::torch::functions::kinds::OVERRIDES;
use crate::domain::torch::functions::random_state::takes_seed;
use crate::domain::torch::library::Torch;
use crate::domain::torch::named::own_name;
use crate::domain::{Callee, NumberUse, ScalarPlace};

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

/// Comparisons, written in the same way.
const COMPARISONS: &[&str] =
    &["eq", "ne", "lt", "le", "gt", "ge", "less", "less_equal", "greater", "greater_equal", "not_equal"];

/// Others that take numbers.
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
    "addmm",
    "addmv",
    "addbmm",
    "baddbmm",
    "addr",
    "leaky_relu",
    "elu",
    "celu",
    "threshold",
    "hardshrink",
    "softshrink",
    "softplus",
    "hardtanh",
    "layer_norm",
    "native_layer_norm",
    "group_norm",
    "rms_norm",
    "batch_norm",
    "instance_norm",
    "dropout",
    "alpha_dropout",
    "feature_dropout",
    "nan_to_num",
    "huber_loss",
    "smooth_l1_loss",
    "cross_entropy_loss",
    "isclose",
    "pairwise_distance",
    "cdist",
    "dist",
    "scaled_dot_product_attention",
    "uniform",
    "full_like",
    "norm",
    "linalg_vector_norm",
    "tril",
    "triu",
    "foreach_add",
    "foreach_sub",
    "foreach_mul",
    "foreach_div",
    "foreach_addcmul",
    "foreach_addcdiv",
    "foreach_lerp",
    "foreach_pow",
    "foreach_clamp_min",
    "foreach_clamp_max",
];

/// Whether the slot's function takes numbers.
fn in_slot(slot: &str) -> bool {
    SLOTS.contains(&slot)
}

/// Whether a function or method of this name does.
pub(in crate::domain::torch) fn are_contents(name: &str) -> bool {
    let name = name.trim_matches('_');
    ARITHMETIC.contains(&name) || COMPARISONS.contains(&name) || CALLS.contains(&name)
}

/// Where a tensor without dimensions may stand for a float.
pub(in crate::domain::torch) fn scalar_places(callee: &Callee<'_>) -> &'static [ScalarPlace] {
    const fn place(array: usize, number: usize) -> ScalarPlace {
        ScalarPlace { array, number, checks_size: true }
    }
    let name = match callee {
        Callee::Function(function) => own_name(function),
        Callee::Method(name) => name.as_str().into(),
        Callee::Slot("tp_richcompare") => "eq".into(),
        Callee::Slot(_) | Callee::GetAttr(_) => return &[],
    };
    match name.trim_matches('_') {
        name if ARITHMETIC.contains(&name) => &[ScalarPlace { array: 0, number: 1, checks_size: false }],
        name if COMPARISONS.contains(&name) => const { &[place(0, 1)] },
        "fill" => const { &[place(0, 1)] },
        "masked_fill" => const { &[place(0, 2)] },
        "where" => const { &[place(1, 2), place(2, 1)] },
        _ => &[],
    }
}

impl Torch {
    /// What an operation does with numbers among its operands that may be symbolic.
    pub(in crate::domain::torch) fn use_of_numbers_in(&self, callee: &Callee<'_>) -> NumberUse {
        let takes = match callee {
            Callee::Slot(slot) => in_slot(slot),
            Callee::Function(function) if self.is_operator(function) => false,
            Callee::Function(function) if takes_seed(function) => true,
            Callee::Function(function) => match own_name(function) {
                name if OVERRIDES.contains(&&*name) => return NumberUse::Classes,
                name if name == "tensor" => return NumberUse::Array,
                name => are_contents(&name),
            },
            Callee::Method(name) => are_contents(name),
            Callee::GetAttr(_) => false,
        };
        if takes { NumberUse::Contents } else { NumberUse::Other }
    }
}
