//! Operations that draw from a generator which they are given.
use crate::domain::torch::examples::placed::place_of;
use crate::domain::torch::graph_break::stop;
use crate::domain::torch::library::Torch;
use crate::domain::torch::named::own_name;
use crate::domain::torch::undo::effects;
use crate::domain::{Answer, Operand};
use crate::ffi::types;
use crate::graph_break::Break;
use crate::names::{interned, name};
use pyo3::prelude::*;
use std::borrow::Cow;

/// The name by which an operation is given one.
pub(in crate::domain::torch) const GENERATOR: &str = "generator";

/// The class, by its name in C.
const CLASS: &str = "torch._C.Generator";

/// Whether it is a generator.
fn is_generator(object: &Bound<'_, PyAny>) -> bool {
    types::is_c_class(&object.get_type(), CLASS)
}

fn is_given((name, operand): &(String, Operand<'_>)) -> bool {
    name == GENERATOR && matches!(operand, Operand::Graph { example, .. } if is_generator(example))
}

/// Whether operands by name have a generator among them.
pub(in crate::domain::torch) fn draws_from<'a, 'py>(
    kwargs: &'a [(String, Operand<'py>)],
) -> Option<&'a (String, Operand<'py>)> {
    kwargs.iter().find(|given| is_given(given))
}

/// Operands by name, but for a generator: the metadata of what an operation gives is that without it.
pub(in crate::domain::torch) fn without_generator<'a, 'py>(
    kwargs: &'a [(String, Operand<'py>)],
) -> Cow<'a, [(String, Operand<'py>)]> {
    match draws_from(kwargs) {
        Some(_) => Cow::Owned(kwargs.iter().filter(|given| !is_given(given)).cloned().collect()),
        None => Cow::Borrowed(kwargs),
    }
}

/// The answer to an operation, which has this generator, too.
pub(in crate::domain::torch) fn with_generator<'py>(
    torch: &Torch,
    mut answer: Answer<'py>,
    given: &(String, Operand<'py>),
) -> Result<Answer<'py>, Box<Break>> {
    let refused = |why| stop("operation that is given a generator of random numbers", GENERATOR, why);
    let Operand::Graph { example: generator, .. } = &given.1 else { return Err(refused("It is none.")) };
    let (Answer::Node { target, kwargs, example, .. } | Answer::Change { target, kwargs, example, .. }) = &mut answer
    else {
        return Err(refused("What it gives is no new tensor."));
    };
    if !effects::of(torch, target).draws || !takes_generator(torch, target).unwrap_or(false) {
        return Err(refused("The operation draws no numbers from one."));
    }
    let is_here = || generator.getattr(name!("device"))?.getattr(name!("type"))?.eq("cpu");
    if !is_here().unwrap_or(false) || !place_of(example).is_some_and(|place| place.is_cpu()) {
        return Err(refused("It is one of another device than the CPU, or the tensor is there."));
    }
    kwargs.push(given.clone());
    Ok(answer)
}

/// Whether an operation says that it takes one.
fn takes_generator(torch: &Torch, target: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = target.py();
    let operators = torch.module.bind(py).getattr(name!("ops"))?.getattr(name!("aten"))?;
    let Some(packet) = operators.getattr_opt(interned(py, &own_name(target)))? else { return Ok(false) };
    for overload in packet.call_method0(name!("overloads"))?.try_iter()? {
        let schema = packet.getattr(overload?.cast::<pyo3::types::PyString>()?)?.getattr(name!("_schema"))?;
        for argument in schema.getattr(name!("arguments"))?.try_iter()? {
            if argument?.getattr(name!("name"))?.eq(GENERATOR)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
