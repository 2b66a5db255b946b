//! What operations of PyTorch do besides giving something new: their schemas say what they change and share; a table says which of them
//! raise for no contents.
use super::super::library::Torch;
use super::super::named::module_of;
use super::super::own::{CLEAR_GRADIENT, GRADIENT_OF, SET_DATA, is_check, is_through_hook};
use super::super::thread::modes;
use super::indices::raises_by;
use crate::domain::NodeEffects;
use crate::ffi::callee;
use crate::names::{interned, name};
use pyo3::prelude::*;
use pyo3::types::{PyModule, PyString};

/// Gives the state of the generator of random numbers.
pub(in crate::domain::torch) const GET_STATE: &str = "get_rng_state";
/// Sets it to such a state.
pub(in crate::domain::torch) const SET_STATE: &str = "set_rng_state";
/// Sets it by a number.
pub(in crate::domain::torch) const SEED_STATE: &str = "seed_generators";

/// The function that sets the attribute of what is known to be a leaf: it raises nothing.
pub(in crate::domain::torch) const SET_REQUIRES_GRAD: &str = "set_requires_grad";

/// The method that sees a tensor as an instance of another class.
pub(in crate::domain::torch) const AS_SUBCLASS: &str = "as_subclass";

/// Operations that no contents of their operands make raise; their metadata are guarded. Forms in place, and the operators of Python, are
/// those without underscores, and without the `i` before.
const SURE: &[&str] = &[
    "abs",
    "absolute",
    "acos",
    "acosh",
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "add",
    "addbmm",
    "addcdiv",
    "addcmul",
    "addmm",
    "addmv",
    "alias",
    "allclose",
    "all",
    "amax",
    "amin",
    "and",
    "any",
    "arange",
    "argmax",
    "argmin",
    "argsort",
    "argwhere",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "avg_pool1d",
    "avg_pool2d",
    "baddbmm",
    "batch_norm",
    "bfloat16",
    "binary_cross_entropy_with_logits",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "bmm",
    "bool",
    "broadcast_to",
    "cat",
    "ceil",
    "celu",
    "chunk",
    "clamp",
    "clamp_max",
    "clamp_min",
    "clip",
    "clone",
    "concat",
    "contiguous",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "copy",
    "cos",
    "cosh",
    "cumsum",
    "detach",
    "diagonal",
    "div",
    "divide",
    "dot",
    "double",
    "dropout",
    "einsum",
    "elu",
    "empty",
    "empty_like",
    "eq",
    "equal",
    "erf",
    "erfc",
    "exp",
    "expand",
    "expand_as",
    "expm1",
    "eye",
    "fill",
    "flatten",
    "flip",
    "float",
    "floor",
    "frac",
    "full",
    "full_like",
    "ge",
    "gelu",
    "group_norm",
    "gru",
    "gt",
    "half",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hstack",
    "huber_loss",
    "instance_norm",
    "int",
    "inv",
    "invert",
    "isfinite",
    "isinf",
    "isnan",
    "item",
    "l1_loss",
    "layer_norm",
    "le",
    "leaky_relu",
    "lerp",
    "linalg_vector_norm",
    "linear",
    "log",
    "log10",
    "log1p",
    "log2",
    "log_sigmoid",
    "log_softmax",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logsumexp",
    "long",
    "lstm",
    "lt",
    "masked_fill",
    "masked_select",
    "matmul",
    "max",
    "max_pool1d",
    "max_pool2d",
    "maximum",
    "mean",
    "min",
    "minimum",
    "mish",
    "mm",
    "movedim",
    "mse_loss",
    "mul",
    "multiply",
    "mv",
    "narrow",
    "ne",
    "neg",
    "negative",
    "new_empty",
    "new_full",
    "new_ones",
    "new_zeros",
    "nonzero",
    "norm",
    "ones",
    "ones_like",
    "or",
    "outer",
    "pad",
    "permute",
    "pos",
    "positive",
    "pow",
    "prelu",
    "prod",
    "rand",
    "rand_like",
    "randn",
    "randn_like",
    "reciprocal",
    "relu",
    "relu6",
    "repeat",
    "requires_grad",
    "retain_grad",
    "reshape",
    "rms_norm",
    "rnn_relu",
    "rnn_tanh",
    "roll",
    "round",
    "rsqrt",
    "rsub",
    "scaled_dot_product_attention",
    "select",
    "selu",
    "sigmoid",
    "sign",
    "silu",
    "sin",
    "sinh",
    "smooth_l1_loss",
    "softmax",
    "softplus",
    "sort",
    "split",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "std",
    "sub",
    "subtract",
    "sum",
    "swapaxes",
    "swapdims",
    "t",
    "tan",
    "tanh",
    "threshold",
    "tile",
    "to",
    "topk",
    "transpose",
    "tril",
    "triu",
    "true_divide",
    "truediv",
    "trunc",
    "type",
    "type_as",
    "unbind",
    "unique_consecutive",
    "unflatten",
    "unsqueeze",
    "var",
    "view",
    "view_as",
    "vstack",
    "where",
    "xor",
    "zero",
    "zeros",
    "zeros_like",
];

/// What makes an array of a tensor in the same memory, and the other way round.
const OF_ARRAYS: &[&str] = &["numpy", "from_numpy", "as_tensor"];

/// Operations that raise only where an index is a tensor: a number's range is checked when the trace is made.
const INDEXED: &[&str] = &["getitem", "setitem"];

/// Functions of this package that set a mode, and raise nothing.
const MODES: &[&str] = &["overrides_on", "subclass_overrides_off", "overrides_off"];

/// Functions that count how deep a mode is nested.
const NESTING: &[&str] = &["autocast_increment_nesting", "autocast_decrement_nesting"];

/// Operations that change operands beside their first one, and which.
const WRITES: &[(&str, &[usize])] = &[("batch_norm", &[3, 4]), ("instance_norm", &[3, 4])];

/// What a node does that calls this.
pub(in crate::domain::torch) fn of(torch: &Torch, target: &Bound<'_, PyAny>) -> NodeEffects {
    if is_check(target) {
        return NodeEffects {
            raises: true,
            shares_first: false,
            is_unknown: false,
            draws: false,
            ..NodeEffects::unknown()
        };
    }
    if is_through_hook(target) {
        return NodeEffects { raises: false, draws: false, ..NodeEffects::unknown() };
    }
    if torch.is_backward(target) || is_of_numbers(target) {
        return NodeEffects {
            raises: false,
            shares_first: false,
            is_unknown: false,
            draws: false,
            ..NodeEffects::unknown()
        };
    }
    let name = target.getattr(name!("__name__")).and_then(|name| name.extract::<String>());
    let name = name.unwrap_or_else(|_| callee::name_of(target).into());
    if let Some(known) = torch.rules.effects.lock().ok().and_then(|known| known.get(&name).cloned()) {
        return known;
    }
    let found = look_up(torch.module.bind(target.py()), &name);
    if let Ok(mut known) = torch.rules.effects.lock() {
        known.insert(name, found.clone());
    }
    found
}

/// Whether a function works on numbers and their texts.
fn is_of_numbers(target: &Bound<'_, PyAny>) -> bool {
    module_of(target).is_some_and(|module| module == "slotrt._numbers")
}

/// Whether an object remembers what it was computed from.
pub(in crate::domain::torch) fn keeps_history(
    module: &Bound<'_, PyModule>,
    example: &Bound<'_, PyAny>,
) -> PyResult<bool> {
    Ok(example.getattr(name!("requires_grad"))?.is_truthy()?
        && module.call_method0(name!("is_grad_enabled"))?.is_truthy()?)
}

fn look_up(module: &Bound<'_, PyModule>, name: &str) -> NodeEffects {
    let plain = NodeEffects {
        raises: false,
        shares_first: false,
        is_unknown: false,
        draws: false,
        nests: NESTING.contains(&name),
        writes: Vec::new(),
        raises_by: None,
    };
    if modes::is_setter(name) || MODES.contains(&name) {
        return plain;
    }
    if name == AS_SUBCLASS || OF_ARRAYS.contains(&name) {
        return NodeEffects { shares_first: true, ..plain };
    }
    if name == SET_REQUIRES_GRAD || name == GRADIENT_OF {
        return NodeEffects { shares_first: true, ..plain };
    }
    match name {
        GET_STATE | CLEAR_GRADIENT => return plain,
        SET_DATA => return NodeEffects { draws: false, raises: false, ..NodeEffects::unknown() },
        SET_STATE | SEED_STATE => return NodeEffects { draws: true, raises: name == SET_STATE, ..plain },
        _ => {}
    }
    let base = base(name);
    if INDEXED.contains(&base) {
        return NodeEffects { shares_first: true, raises_by: raises_by(base), ..plain };
    }
    let raises = !is_sure(base);
    let writes = WRITES.iter().find(|(known, _)| *known == base).map(|(_, at)| at.to_vec()).unwrap_or_default();
    match by_schema(module, name, base) {
        Ok(Some((shares_first, draws))) => {
            NodeEffects { raises, shares_first, draws, writes, raises_by: raises_by(base), ..plain }
        }
        // An operator of Python.
        _ if !raises => NodeEffects { shares_first: true, ..plain },
        _ => NodeEffects::unknown(),
    }
}

fn is_sure(base: &str) -> bool {
    base.starts_with("_foreach_")
        || SURE.contains(&base)
        || base.strip_prefix('i').is_some_and(|base| SURE.contains(&base))
}

/// `add` of `add_`, of `__add__` and of `__radd__`.
pub(in crate::domain::torch) fn base(name: &str) -> &str {
    let dunder = name.strip_prefix("__").and_then(|name| name.strip_suffix("__"));
    let base = dunder.unwrap_or(name).trim_end_matches('_');
    match dunder.and_then(|_| base.strip_prefix('r')) {
        Some(reflected) if SURE.contains(&reflected) => reflected,
        _ => base,
    }
}

/// What the schemas of all overloads say: whether what they give may share memory with an operand, and whether they draw numbers.
fn by_schema(module: &Bound<'_, PyModule>, name: &str, base: &str) -> PyResult<Option<(bool, bool)>> {
    let py = module.py();
    let operators = module.getattr(name!("ops"))?.getattr(name!("aten"))?;
    let find = |name: &str| operators.getattr_opt(interned(py, name));
    let Some(packet) = find(name)?.map_or_else(|| find(base), |found| Ok(Some(found)))? else { return Ok(None) };
    let tags = module.getattr(name!("Tag"))?;
    let seeded = tags.getattr(name!("nondeterministic_seeded"))?;
    let perhaps = tags.getattr_opt(name!("maybe_aliasing_or_mutating"))?;
    let (mut shares, mut draws) = (false, false);
    for overload in packet.call_method0(name!("overloads"))?.try_iter()? {
        let overload = overload?;
        let overload = overload.cast::<PyString>()?;
        // No graph says where results are to go.
        if overload.to_string_lossy().ends_with("out") {
            continue;
        }
        let overload = packet.getattr(overload)?;
        let tags = overload.getattr(name!("tags"))?;
        draws |= tags.contains(&seeded)?;
        shares |= perhaps.as_ref().map_or(Ok(true), |perhaps| tags.contains(perhaps))?;
        let schema = overload.getattr(name!("_schema"))?;
        for result in schema.getattr(name!("returns"))?.try_iter()? {
            shares |= !result?.getattr(name!("alias_info"))?.is_none();
        }
    }
    Ok(Some((shares, draws)))
}
