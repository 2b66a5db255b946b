//! Operations that change an array in place: the graph runs them where the program does, on the array itself.
use super::example::Examples;
use super::graph_break::{CallResult, fault, stop};
use super::indices::is_basic;
use crate::domain::{Answer, Gives, Operand};
use crate::graph_break::Break;
use crate::names::name;
use generated::slots::Slot;
use pyo3::prelude::*;

/// Slot, function of `operator`.
const IN_PLACE: &[(Slot, &str)] = &[
    (Slot::nb_inplace_add, "iadd"),
    (Slot::nb_inplace_subtract, "isub"),
    (Slot::nb_inplace_multiply, "imul"),
    (Slot::nb_inplace_remainder, "imod"),
    (Slot::nb_inplace_lshift, "ilshift"),
    (Slot::nb_inplace_rshift, "irshift"),
    (Slot::nb_inplace_and, "iand"),
    (Slot::nb_inplace_xor, "ixor"),
    (Slot::nb_inplace_or, "ior"),
    (Slot::nb_inplace_floor_divide, "ifloordiv"),
    (Slot::nb_inplace_true_divide, "itruediv"),
    (Slot::nb_inplace_power, "ipow"),
];

/// An operation that came through a slot which changes the first operand; `None`: it is none.
pub(super) fn slot<'py>(examples: &Examples<'_, 'py>, slot: &str, args: &[Operand<'py>]) -> Option<CallResult<'py>> {
    if let ("mp_ass_subscript", [array, index, value]) = (slot, args) {
        return Some(assign(examples, array, index, value));
    }
    let (slot, operator) = IN_PLACE.iter().find(|row| row.0.name() == slot)?;
    let [array, other, ..] = args else { return None };
    Some(operate(examples, (*slot, operator), array, other))
}

/// Whether such a slot computes with, or writes, what it is given.
pub(super) fn computes(slot: &str) -> bool {
    slot == "mp_ass_subscript" || IN_PLACE.iter().any(|row| row.0.name() == slot)
}

/// `array += other` and the like.
fn operate<'py>(
    examples: &Examples<'_, 'py>,
    (slot, operator): (Slot, &str),
    array: &Operand<'py>,
    other: &Operand<'py>,
) -> CallResult<'py> {
    let operands = [array.clone(), other.clone()];
    if slot == Slot::nb_inplace_power {
        examples.refuse_integer_power(&operands)?;
    }
    let Operand::Graph { value, example, .. } = array else { return Ok(Answer::NotImplemented) };
    let copy = changeable(examples, example, &[other])?;
    let stand_in = Operand::Graph { value: *value, example: copy.clone(), layout: None };
    match examples.run_slot(array, slot, &[stand_in, other.clone()])? {
        Ok(result) if result.is(examples.py.NotImplemented()) => Ok(Answer::NotImplemented),
        Ok(result) if result.is(&copy) => change(examples, operator, &operands, Gives::Operand(*value)),
        Ok(_) => Err(refused(operator, "It gives another object.")),
        Err(error) => Ok(Answer::Raised(error)),
    }
}

/// `array[index] = value`.
fn assign<'py>(
    examples: &Examples<'_, 'py>,
    array: &Operand<'py>,
    index: &Operand<'py>,
    value: &Operand<'py>,
) -> CallResult<'py> {
    const OPERATOR: &str = "setitem";
    let Operand::Graph { example, .. } = array else { return Err(refused(OPERATOR, "It is no array of the graph.")) };
    if !is_basic(index) && !is_mask(examples, index, value) {
        return Err(refused(OPERATOR, "Errors depend on the contents of the index."));
    }
    let copy = changeable(examples, example, &[value])?;
    let set = examples.numpy.operator.bind(examples.py).getattr(OPERATOR).map_err(|error| fault(&error))?;
    let (index_object, value_object) = (examples.object(index)?, examples.object(value)?);
    match examples.quietly(|| set.call1((copy, index_object, value_object)))? {
        Ok(_) => change(examples, OPERATOR, &[array.clone(), index.clone(), value.clone()], Gives::Nothing),
        Err(error) => Ok(Answer::Raised(error)),
    }
}

/// The keyword of the array that gets a result.
const OUT: &str = "out";

/// Takes the array that gets the result out of keywords; `None`: none does. Ufuncs may get it in a tuple.
pub(super) fn take_out<'py>(kwargs: &mut Vec<(String, Operand<'py>)>) -> Option<Operand<'py>> {
    let at = kwargs.iter().position(|(name, _)| name == OUT)?;
    let out = match kwargs.remove(at).1 {
        Operand::Tuple(items) => match <[Operand<'py>; 1]>::try_from(items) {
            Ok([item]) => item,
            Err(items) => Operand::Tuple(items),
        },
        out => out,
    };
    let is_none = matches!(&out, Operand::Known(object) if object.is_none());
    (!is_none).then_some(out)
}

/// `function(*args, out=array)`.
pub(super) fn write<'py>(
    examples: &Examples<'_, 'py>,
    function: &Bound<'py, PyAny>,
    (args, kwargs): (&[Operand<'py>], &[(String, Operand<'py>)]),
    out: &Operand<'py>,
) -> CallResult<'py> {
    let Operand::Graph { value, example, .. } = out else { return Err(refused(OUT, "It is no array of the graph.")) };
    if !examples.numpy.is_value(example) {
        return Err(refused(OUT, "It is no array of the graph."));
    }
    let others: Vec<_> = args.iter().collect();
    let copy = changeable(examples, example, &others)?;
    let stand_in = Operand::Graph { value: *value, example: copy.clone(), layout: None };
    let with = |out: Operand<'py>| kwargs.iter().cloned().chain([(OUT.to_owned(), out)]).collect::<Vec<_>>();
    match examples.run(function, args, &with(stand_in))? {
        Ok(result) if result.is(&copy) => {}
        Ok(_) => return Err(refused(OUT, "It gives another object.")),
        Err(error) => return Ok(Answer::Raised(error)),
    }
    examples.refuse_errors()?;
    let (target, example) = (function.clone(), example.clone());
    let (args, kwargs, changes) = (args.to_vec(), with(out.clone()), vec![*value]);
    Ok(Answer::Change { target, args, kwargs, example, changes, gives: Gives::Operand(*value) })
}

/// Whether an index chooses by truths what one number is written to: how many they are does not matter then.
fn is_mask(examples: &Examples<'_, '_>, index: &Operand<'_>, value: &Operand<'_>) -> bool {
    let Operand::Graph { example, .. } = index else { return false };
    let dimensions = |object: &Bound<'_, PyAny>| object.getattr(name!("ndim")).and_then(|ndim| ndim.extract::<usize>());
    let is_number = match value {
        Operand::Known(value) => {
            value.is_instance_of::<pyo3::types::PyInt>() || value.is_instance_of::<pyo3::types::PyFloat>()
        }
        Operand::Number { .. } => true,
        Operand::Graph { example, .. } => dimensions(example).is_ok_and(|count| count == 0),
        _ => false,
    };
    is_number
        && examples.kind(example).is_ok_and(|kind| kind == 'b')
        && dimensions(example).is_ok_and(|count| count > 0)
}

/// A copy of what stands for an array, for the change to be tried on.
fn changeable<'py>(
    examples: &Examples<'_, 'py>,
    example: &Bound<'py, PyAny>,
    others: &[&Operand<'py>],
) -> Result<Bound<'py, PyAny>, Box<Break>> {
    if !example.get_type().is(&examples.numpy.ndarray) {
        return Err(refused("slot", "Only arrays change."));
    }
    let is_written = example.getattr(name!("flags")).and_then(|flags| flags.getattr(name!("writeable"))?.is_truthy());
    if !is_written.map_err(|error| fault(&error))? {
        return Err(refused("slot", "Nobody may write to the array."));
    }
    let plain = |kind: char| "biuf".contains(kind);
    let mut kinds = vec![examples.kind(example)?];
    for other in others {
        if let Operand::Graph { example, .. } = other {
            kinds.push(examples.kind(example)?);
        }
    }
    if !kinds.into_iter().all(plain) {
        return Err(refused("slot", "It may warn of what is lost."));
    }
    example.call_method0(name!("copy")).map_err(|error| fault(&error))
}

/// The change, if errors of floating point numbers raise nothing.
fn change<'py>(examples: &Examples<'_, 'py>, operator: &str, args: &[Operand<'py>], gives: Gives) -> CallResult<'py> {
    let Some(Operand::Graph { value, example, .. }) = args.first() else {
        return Err(refused(operator, "It is no array of the graph."));
    };
    examples.refuse_errors()?;
    let target = examples.numpy.operator.bind(examples.py).getattr(operator).map_err(|error| fault(&error))?;
    let (args, example) = (args.to_vec(), example.clone());
    Ok(Answer::Change { target, args, kwargs: Vec::new(), example, changes: vec![*value], gives })
}

fn refused(what: &str, why: &str) -> Box<Break> {
    stop("in-place change of an array", what, why)
}
