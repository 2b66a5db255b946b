//! Calls that write to operands which they name: `out=`, and operators whose schemas say what they change.
use super::examples::site::Site;
use super::graph_break::{CallResult, fault, stop};
use super::meta::{Meta, fails, name_of};
use super::metadata::metadata;
use crate::domain::{Answer, Operand};
use crate::graph::ValueId;
use crate::graph_break::Break;
use pyo3::prelude::*;

/// What a call writes to: the operand, and what stands for it.
struct Written<'a, 'py> {
    value: ValueId,
    example: &'a Bound<'py, PyAny>,
    stand_in: Bound<'py, PyAny>,
}

impl<'py> Meta<'_, 'py> {
    /// A call that writes to operands: those at these places, and those of these names.
    pub(super) fn write(
        &self,
        target: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
        places: &[usize],
        names: &[String],
    ) -> CallResult<'py> {
        self.refuse_modes()?;
        Site::of(&name_of(target), args, kwargs)?;
        let operands = self.stand_ins(args, kwargs)?;
        let mut written = Vec::new();
        for (place, operand) in args.iter().enumerate().filter(|(place, _)| places.contains(place)) {
            written.push(tensor(target, operand, operands.positional[place].clone())?);
        }
        for (name, operand) in kwargs.iter().filter(|(name, _)| names.contains(name)) {
            written.push(tensor(target, operand, operands.named(name).map_err(|error| fault(&error))?)?);
        }
        let kinds = || written.iter().map(|one| metadata(&one.stand_in)).collect::<PyResult<Vec<_>>>();
        let before = kinds().map_err(|error| fault(&error))?;
        let gives = operands.run(target).map_err(|error| fails(target, &error))?;
        for (before, now) in before.iter().zip(kinds().map_err(|error| fault(&error))?) {
            if !now.eq(before).map_err(|error| fault(&error))? {
                return Err(refused(target, "It changes what the tensor is."));
            }
        }
        let given = written.iter().find(|one| one.stand_in.is(&gives));
        if given.is_none() && !gives.is_none() {
            return Err(refused(target, "It gives another object."));
        }
        let Some(example) = given.or(written.first()).map(|one| one.example.clone()) else {
            return Err(refused(target, "What it changes is no tensor of the graph."));
        };
        Ok(Answer::Change {
            target: target.clone(),
            args: args.to_vec(),
            kwargs: kwargs.to_vec(),
            example,
            changes: written.iter().map(|one| one.value).collect(),
            gives: given.map(|one| one.value),
        })
    }
}

fn tensor<'a, 'py>(
    target: &Bound<'py, PyAny>,
    operand: &'a Operand<'py>,
    stand_in: Bound<'py, PyAny>,
) -> Result<Written<'a, 'py>, Box<Break>> {
    match operand {
        Operand::Graph { value, example, .. } => Ok(Written { value: *value, example, stand_in }),
        _ => Err(refused(target, "What it changes is no tensor of the graph.")),
    }
}

fn refused(target: &Bound<'_, PyAny>, why: &str) -> Box<Break> {
    stop("operator that changes its operands", name_of(target), why)
}
