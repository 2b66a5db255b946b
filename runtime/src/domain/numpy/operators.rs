//! Slots of arrays: which Python operator stands for each in the graph.
use super::changes;
use super::example::Examples;
use super::graph_break::{CallResult, fault, stop};
use super::indices::is_basic;
use crate::domain::{Answer, Operand};
use crate::names::name;
use generated::slots::Slot;
use pyo3::prelude::*;

/// Slot, function of `operator`.
type Row = (Slot, &'static str);

/// Number slots with two operands.
const BINARY: &[Row] = &[
    (Slot::nb_add, "add"),
    (Slot::nb_subtract, "sub"),
    (Slot::nb_multiply, "mul"),
    (Slot::nb_remainder, "mod"),
    (Slot::nb_lshift, "lshift"),
    (Slot::nb_rshift, "rshift"),
    (Slot::nb_and, "and_"),
    (Slot::nb_xor, "xor"),
    (Slot::nb_or, "or_"),
    (Slot::nb_floor_divide, "floordiv"),
    (Slot::nb_true_divide, "truediv"),
    (Slot::nb_matrix_multiply, "matmul"),
    (Slot::nb_power, "pow"),
];

/// Number slots with one operand.
const UNARY: &[(&str, &str)] =
    &[("nb_negative", "neg"), ("nb_positive", "pos"), ("nb_absolute", "abs"), ("nb_invert", "invert")];

/// Comparisons by the number that `tp_richcompare` gets.
const COMPARE: [(&str, &str); 6] =
    [("lt", "__lt__"), ("le", "__le__"), ("eq", "__eq__"), ("ne", "__ne__"), ("gt", "__gt__"), ("ge", "__ge__")];

/// An operation that came through a slot.
pub(super) fn slot<'py>(examples: &Examples<'_, 'py>, slot: &str, args: &[Operand<'py>]) -> CallResult<'py> {
    if let Some(row) = BINARY.iter().find(|row| row.0.name() == slot) {
        return binary(examples, row, args);
    }
    if let (Some((_, operator)), [operand, ..]) = (UNARY.iter().find(|row| row.0 == slot), args) {
        return examples.record(function(examples, operator)?, std::slice::from_ref(operand), &[]);
    }
    if let Some(answer) = changes::slot(examples, slot, args) {
        return answer;
    }
    match (slot, args) {
        ("tp_richcompare", [left, right, Operand::Known(operation)]) => compare(examples, left, right, operation),
        ("mp_subscript" | "sq_item", [array, index]) => subscript(examples, array, index),
        ("mp_length" | "sq_length", [array]) => {
            Ok(examples.object(array)?.len().map_or_else(Answer::Raised, |length| constant(examples, length)))
        }
        ("tp_hash", [array]) => match examples.object(array)?.hash() {
            Err(error) => Ok(Answer::Raised(error)),
            Ok(_) => Err(depends(slot)),
        },
        _ => Err(depends(slot)),
    }
}

/// Whether a slot computes with two operands.
pub(super) fn computes(slot: &str) -> bool {
    slot == "tp_richcompare" || BINARY.iter().any(|row| row.0.name() == slot)
}

fn depends(slot: &str) -> Box<crate::graph_break::Break> {
    let (kind, text) = if slot.starts_with("nb_inplace") || slot.contains("_ass_") {
        ("in-place change of an array", "The graph holds no operation that changes its operands.")
    } else {
        (
            "depends on the contents of an array",
            "Python needs the contents, which are known only when the graph has run.",
        )
    };
    stop(kind, format!("slot {slot}"), text)
}

fn constant<'py>(examples: &Examples<'_, 'py>, number: usize) -> Answer<'py> {
    match number.into_pyobject(examples.py) {
        Ok(number) => Answer::Constant(number.into_any()),
        Err(never) => match never {},
    }
}

fn function<'py>(
    examples: &Examples<'_, 'py>,
    name: &str,
) -> Result<Bound<'py, PyAny>, Box<crate::graph_break::Break>> {
    examples.numpy.operator.bind(examples.py).getattr(name).map_err(|error| fault(&error))
}

/// The slots of the operands that numpy owns, asked themselves: methods of the same name can be those of other slots, as `str_` has
/// them of `str`. They may answer `NotImplemented`.
fn binary<'py>(examples: &Examples<'_, 'py>, row: &Row, args: &[Operand<'py>]) -> CallResult<'py> {
    let [left, right] = [args.first(), args.get(1)];
    let (Some(left), Some(right)) = (left, right) else { return Err(depends(row.0.name())) };
    if let Some(Operand::Known(third)) = args.get(2)
        && !third.is_none()
    {
        return Err(stop(
            "unsupported form of a numpy call",
            "pow with three arguments",
            "numpy has no such operation.",
        ));
    }
    if gives_up(left, right) {
        return Ok(Answer::NotImplemented);
    }
    if row.0 == Slot::nb_power {
        examples.refuse_integer_power(&[left.clone(), right.clone()])?;
    }
    let (target, operands) = (function(examples, row.1)?, [left.clone(), right.clone()]);
    // `numpy.int64 // numpy.float64`: the right operand's slot, which gets the operands in the same order, knows the answer.
    for own in operands.iter().filter(|operand| matches!(operand, Operand::Graph { .. })) {
        match examples.run_slot(own, row.0, &operands)? {
            Ok(result) if result.is(examples.py.NotImplemented()) => {}
            Ok(example) => return examples.node(target, &operands, &[], example),
            Err(error) => return Ok(Answer::Raised(error)),
        }
    }
    Ok(Answer::NotImplemented)
}

/// Classes that say `__array_ufunc__ = None` are left to their own methods.
fn gives_up(left: &Operand<'_>, right: &Operand<'_>) -> bool {
    [left, right].into_iter().any(|operand| match operand {
        Operand::Foreign(class) => class.getattr(name!("__array_ufunc__")).is_ok_and(|value| value.is_none()),
        _ => false,
    })
}

/// Whether an operator leaves the work to an operand that is a value of another library: one that has no `__array_ufunc__`, and a greater
/// `__array_priority__`.
pub(super) fn leaves_to_other(examples: &Examples<'_, '_>, slot: &str, args: &[Operand<'_>]) -> bool {
    let [left, right, ..] = args else { return false };
    if !computes(slot) {
        return false;
    }
    let is_before = |other: &Bound<'_, PyAny>, own: &Bound<'_, PyAny>| {
        let priority = |object: &Bound<'_, PyAny>| object.getattr(name!("__array_priority__"))?.extract::<f64>();
        let says = other.get_type().hasattr(name!("__array_ufunc__")).unwrap_or(true);
        !says && priority(other).is_ok_and(|other| priority(own).is_ok_and(|own| own < other))
    };
    [(left, right), (right, left)].into_iter().any(|(own, other)| match (own, other) {
        (Operand::Graph { example: own, .. } | Operand::Known(own), Operand::Graph { example: other, .. }) => {
            examples.numpy.is_value(own) && !examples.numpy.is_value(other) && is_before(other, own)
        }
        _ => false,
    })
}

fn compare<'py>(
    examples: &Examples<'_, 'py>,
    left: &Operand<'py>,
    right: &Operand<'py>,
    operation: &Bound<'py, PyAny>,
) -> CallResult<'py> {
    let row = operation.extract::<usize>().ok().and_then(|number| COMPARE.get(number));
    let Some((operator, method)) = row else { return Err(depends("tp_richcompare")) };
    if gives_up(left, right) {
        return Ok(Answer::NotImplemented);
    }
    let bound = match examples.object(left)?.getattr(*method) {
        Ok(bound) => bound,
        Err(error) => return Ok(Answer::Raised(error)),
    };
    answer(examples, bound, right, function(examples, operator)?, &[left.clone(), right.clone()])
}

fn answer<'py>(
    examples: &Examples<'_, 'py>,
    method: Bound<'py, PyAny>,
    other: &Operand<'py>,
    target: Bound<'py, PyAny>,
    args: &[Operand<'py>],
) -> CallResult<'py> {
    match examples.run(&method, std::slice::from_ref(other), &[])? {
        Ok(result) if result.is(examples.py.NotImplemented()) => Ok(Answer::NotImplemented),
        Ok(example) => examples.node(target, args, &[], example),
        Err(error) => Ok(Answer::Raised(error)),
    }
}

/// Indexing by what is known: integers, slices, `None`, `...`, and tuples of these. All else depends on contents.
fn subscript<'py>(examples: &Examples<'_, 'py>, array: &Operand<'py>, index: &Operand<'py>) -> CallResult<'py> {
    if !is_basic(index) {
        return Err(stop("index that is an array", "mp_subscript", "Shape or errors depend on the index's contents."));
    }
    let target = function(examples, "getitem")?;
    examples.record(target, &[array.clone(), index.clone()], &[])
}
