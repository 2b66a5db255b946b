//! The sizes of results where those of operands differ from call to call.
use super::numbers;
use crate::domain::torch::sketch::Sketch;
use crate::domain::{Callee, Operand};
use crate::ffi::callee;
use crate::names::name;
use crate::symbol::{Comparison, ExpressionId, Operation, Shape, SizeArithmetic};
use pyo3::prelude::*;

/// Operations on each element alone, beside those with numbers.
const ELEMENTWISE: &[&str] = &[
    "relu",
    "gelu",
    "silu",
    "sigmoid",
    "tanh",
    "exp",
    "log",
    "sqrt",
    "rsqrt",
    "neg",
    "abs",
    "sin",
    "cos",
    "erf",
    "square",
    "reciprocal",
    "clone",
    "contiguous",
    "float",
    "half",
    "double",
    "bool",
    "long",
    "int",
    "detach",
    "dropout",
    "softmax",
    "log_softmax",
    "layer_norm",
    "logical_not",
    "logical_and",
    "logical_or",
    "maximum",
    "minimum",
    "leaky_relu",
    "elu",
    "hardtanh",
    "softplus",
    "mish",
    "ceil",
    "floor",
    "round",
    "sign",
    "isnan",
    "isfinite",
    "zeros_like",
    "ones_like",
    "and",
    "or",
    "xor",
    "invert",
];

/// Operations that get the sizes of what they give.
const SIZED: &[&str] = &["view", "reshape"];

/// What asks for metadata that is the same for all sizes.
const FOR_ALL_SIZES: &[&str] = &[
    "dtype",
    "ndim",
    "requires_grad",
    "itemsize",
    "layout",
    "device",
    "is_leaf",
    "grad_fn",
    "dim",
    "ndimension",
    "element_size",
    "is_floating_point",
    "is_complex",
    "is_signed",
    "is_conj",
    "is_neg",
    "result_type",
];

fn name_of<'a>(callee: &'a Callee<'_>) -> std::borrow::Cow<'a, str> {
    match callee {
        Callee::Slot("nb_negative" | "nb_positive" | "nb_absolute" | "nb_invert") => "neg".into(),
        Callee::Slot("tp_richcompare") => "eq".into(),
        Callee::Slot(slot) => (*slot).into(),
        Callee::Function(function) => callee::name_of(function).into_owned().into(),
        Callee::Method(name) | Callee::GetAttr(name) => name.as_str().into(),
    }
}

/// Whether an answer about a tensor is so for all its sizes.
pub(in crate::domain::torch) fn answers_for_all(callee: &Callee<'_>) -> bool {
    let name = name_of(callee);
    FOR_ALL_SIZES.contains(&&*name)
        || matches!(callee, Callee::GetAttr(name) if crate::domain::torch::metadata::kind(name).is_some())
}

/// Whether numbers among the operands may say sizes.
pub(in crate::domain::torch) fn takes_sizes(callee: &Callee<'_>) -> bool {
    !matches!(callee, Callee::GetAttr(_)) && SIZED.contains(&&*name_of(callee))
}

/// The sizes in this call.
pub(in crate::domain::torch) fn of(example: &Bound<'_, PyAny>) -> Option<Vec<i64>> {
    match example.cast::<Sketch>() {
        Ok(sketch) => Some(sketch.get().fixed().shape.to_vec()),
        Err(_) => example.getattr(name!("shape")).ok()?.extract().ok(),
    }
}

/// The sizes of what an operation gives.
pub(in crate::domain::torch) fn infer(
    callee: &Callee<'_>,
    args: &[Operand<'_>],
    kwargs: &[(String, Operand<'_>)],
    arithmetic: &mut SizeArithmetic<'_>,
) -> Option<Vec<Shape>> {
    if matches!(callee, Callee::GetAttr(_)) {
        return None;
    }
    let name = name_of(callee);
    let plain = name.trim_matches('_');
    let shape = match plain {
        _ if numbers::in_call(plain) || ELEMENTWISE.contains(&plain) => broadcast(args, kwargs, arithmetic)?,
        "linear" => linear(args, kwargs, arithmetic)?,
        "view" | "reshape" if kwargs.is_empty() => view(args, arithmetic)?,
        _ => return None,
    };
    Some(vec![shape.into()])
}

fn shape_of(operand: &Operand<'_>, arithmetic: &mut SizeArithmetic<'_>) -> Option<Vec<ExpressionId>> {
    let Operand::Graph { example, shape, .. } = operand else { return None };
    match shape {
        Some(shape) => Some(shape.to_vec()),
        None => Some(of(example)?.into_iter().map(|size| arithmetic.constant(size)).collect()),
    }
}

/// All tensors among the operands, broadcast to one shape.
fn broadcast(
    args: &[Operand<'_>],
    kwargs: &[(String, Operand<'_>)],
    arithmetic: &mut SizeArithmetic<'_>,
) -> Option<Vec<ExpressionId>> {
    let mut result: Vec<ExpressionId> = Vec::new();
    for operand in args.iter().chain(kwargs.iter().map(|(_, value)| value)) {
        if matches!(operand, Operand::Tuple(_) | Operand::List(_)) && operand.has_symbolic_sizes() {
            return None;
        }
        let Some(shape) = shape_of(operand, arithmetic) else { continue };
        while result.len() < shape.len() {
            result.insert(0, arithmetic.constant(1));
        }
        let first = result.len() - shape.len();
        for (index, size) in shape.into_iter().enumerate() {
            let known = result[first + index];
            if arithmetic.is(known, 1)? {
                result[first + index] = size;
            } else if !arithmetic.is(size, 1)? && !arithmetic.equal(known, size)? {
                return None;
            }
        }
    }
    Some(result)
}

fn linear(
    args: &[Operand<'_>],
    kwargs: &[(String, Operand<'_>)],
    arithmetic: &mut SizeArithmetic<'_>,
) -> Option<Vec<ExpressionId>> {
    let named = |name: &str| kwargs.iter().find(|(known, _)| known == name).map(|(_, value)| value);
    let mut shape = shape_of(args.first().or_else(|| named("input"))?, arithmetic)?;
    let weight = shape_of(args.get(1).or_else(|| named("weight"))?, arithmetic)?;
    let [out, inner] = weight[..] else { return None };
    if !arithmetic.equal(shape.pop()?, inner)? {
        return None;
    }
    shape.push(out);
    Some(shape)
}

fn view(args: &[Operand<'_>], arithmetic: &mut SizeArithmetic<'_>) -> Option<Vec<ExpressionId>> {
    let (tensor, rest) = args.split_first()?;
    let shape = shape_of(tensor, arithmetic)?;
    let wanted = match rest {
        [Operand::Tuple(sizes) | Operand::List(sizes)] => sizes.as_slice(),
        sizes => sizes,
    };
    let mut sizes = Vec::with_capacity(wanted.len());
    for operand in wanted {
        sizes.push(match operand {
            Operand::Number { expression, .. } => (*expression)?,
            Operand::Known(known) => arithmetic.constant(known.extract().ok()?),
            _ => return None,
        });
    }
    let elements = arithmetic.product(&shape)?;
    let unknown: Vec<usize> = (0..sizes.len()).filter(|index| arithmetic.known(sizes[*index]) == Some(-1)).collect();
    if let [index] = unknown[..] {
        let others: Vec<_> =
            sizes.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, size)| *size).collect();
        let others = arithmetic.product(&others)?;
        let zero = arithmetic.constant(0);
        if !arithmetic.holds(Comparison::Greater, others, zero)? {
            return None;
        }
        sizes[index] = arithmetic.apply(Operation::FloorDivide, elements, others)?;
    }
    let made = arithmetic.product(&sizes)?;
    // Where they are not equal, PyTorch raises.
    (unknown.len() <= 1 && arithmetic.equal(made, elements)?).then_some(sizes)
}
