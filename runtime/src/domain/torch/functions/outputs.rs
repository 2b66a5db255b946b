//! Calls that write to operands which they name: `out=`, and operators whose schemas say what they change.
use crate::domain::torch::examples::site::Site;
use crate::domain::torch::graph_break::{CallResult, fault, stop};
use crate::domain::torch::meta::{Meta, fails, name_of};
use crate::domain::torch::metadata::metadata;
use crate::domain::torch::named::own_name;
use crate::domain::torch::stand_ins::StandIns;
use crate::domain::{Answer, Gives, Operand, is_unread};
use crate::graph::ValueId;
use crate::graph_break::Break;
use pyo3::exceptions::PyNotImplementedError;
use pyo3::prelude::*;

/// How names of operations begin that make all of a step of an optimiser.
pub(in crate::domain::torch) const FUSED: &str = "_fused_";

/// What a call writes to: the operand, and what stands for it.
struct Written<'a, 'py> {
    value: ValueId,
    example: &'a Bound<'py, PyAny>,
    stand_in: Bound<'py, PyAny>,
}

impl<'py> Meta<'_, 'py> {
    /// Adds the tensor that an operand is, or those that it consists of.
    fn written<'a>(
        &self,
        target: &Bound<'py, PyAny>,
        operand: &'a Operand<'py>,
        stand_in: Bound<'py, PyAny>,
        found: &mut Vec<Written<'a, 'py>>,
    ) -> Result<(), Box<Break>> {
        match operand {
            Operand::Graph { value, example, .. } => found.push(Written { value: *value, example, stand_in }),
            Operand::Tuple(items) | Operand::List(items) => {
                let parts = stand_in.try_iter().and_then(Iterator::collect::<PyResult<Vec<_>>>);
                for (item, part) in items.iter().zip(parts.map_err(|error| fault(&error))?) {
                    self.written(target, item, part, found)?;
                }
            }
            _ => return Err(refused(target, "What it changes is no tensor of the graph.")),
        }
        Ok(())
    }

    /// A call that writes to operands: those at these places, and those of these names.
    pub(in crate::domain::torch) fn write(
        &self,
        target: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
        places: &[usize],
        names: &[String],
    ) -> CallResult<'py> {
        self.refuse_modes()?;
        let site = Site::of(&name_of(target), args, kwargs)?;
        let operands = self.stand_ins(args, kwargs)?;
        let mut written = Vec::new();
        for (place, operand) in args.iter().enumerate().filter(|(place, _)| places.contains(place)) {
            self.written(target, operand, operands.positional[place].clone(), &mut written)?;
        }
        for (name, operand) in kwargs.iter().filter(|(name, _)| names.contains(name)) {
            self.written(target, operand, operands.named(name).map_err(|error| fault(&error))?, &mut written)?;
        }
        self.refuse_beyond_gradients(&name_of(target), written.iter().map(|one| one.example), args, kwargs)?;
        let kinds = || written.iter().map(|one| metadata(&one.stand_in)).collect::<PyResult<Vec<_>>>();
        let before = kinds().map_err(|error| fault(&error))?;
        let gives = self.call_on(target, &operands).or_else(|error| match is_step(target, &error) {
            true => Ok(self.py.None().into_bound(self.py)),
            false => Err(fails(target, &error)),
        })?;
        let gives = self.torch.without_numbers(target, gives).map_err(|error| fault(&error))?;
        for (before, now) in before.iter().zip(kinds().map_err(|error| fault(&error))?) {
            if !now.eq(before).map_err(|error| fault(&error))? {
                return Err(refused(target, "It changes what the tensor is."));
            }
        }
        let given = written.iter().find(|one| one.stand_in.is(&gives));
        // The list that it was given.
        let is_list = operands.positional.first().is_some_and(|first| first.is(&gives)) && places == [0];
        let made = match given.is_none() && !gives.is_none() && !is_list {
            true => Some(self.made(target, (args, kwargs), &operands, (gives, &site))?),
            false => None,
        };
        let Some(example) = given.or(written.first()).map(|one| one.example.clone()) else {
            return Err(refused(target, "What it changes is no tensor of the graph."));
        };
        let change = Answer::Change {
            target: target.clone(),
            args: args.to_vec(),
            kwargs: kwargs.to_vec(),
            example,
            changes: written.iter().map(|one| one.value).collect(),
            gives: match (given, is_list) {
                (Some(one), _) => Gives::Operand(one.value),
                (None, true) => Gives::Argument(0),
                (None, false) => Gives::Nothing,
            },
        };
        Ok(match made {
            Some(made) => Answer::Both(Box::new(change), Box::new(made)),
            None => change,
        })
    }

    /// What such a call makes beside its changes: something new, or a sequence of that and of operands.
    fn made(
        &self,
        target: &Bound<'py, PyAny>,
        (args, kwargs): (&[Operand<'py>], &[(String, Operand<'py>)]),
        operands: &StandIns<'py>,
        (gives, site): (Bound<'py, PyAny>, &Site),
    ) -> CallResult<'py> {
        let named = kwargs.iter().map(|(name, _)| operands.named(name)).collect::<PyResult<Vec<_>>>();
        let objects: Vec<_> =
            operands.positional.iter().cloned().chain(named.map_err(|error| fault(&error))?).collect();
        let all: Vec<_> = args.iter().chain(kwargs.iter().map(|(_, value)| value)).cloned().collect();
        let made = self.answer(target.clone(), &all, &[], &objects, gives)?;
        let place = site.place();
        let is_new = |part: &Bound<'py, PyAny>| objects.iter().all(|object| !object.is(part));
        let told = match &made {
            Answer::Node { example, .. } if is_unread(example) => Ok(()),
            Answer::Node { example, .. } if is_new(example) => place.tell(example),
            Answer::Parts { example, itself, .. } => example.try_iter().and_then(|parts| {
                for (at, part) in parts.enumerate() {
                    let part = part?;
                    if itself.get(at).is_none_or(Option::is_none) && !part.is_none() && !is_unread(&part) {
                        place.tell(&part)?;
                    }
                }
                Ok(())
            }),
            _ => return Err(refused(target, "It gives another object.")),
        };
        told.map_err(|error| fault(&error))?;
        Ok(made)
    }
}

/// Whether it is a whole step of an optimiser that there is no kernel without contents for: it gives nothing, and changes contents alone.
fn is_step(target: &Bound<'_, PyAny>, error: &PyErr) -> bool {
    let name = own_name(target);
    error.is_instance_of::<PyNotImplementedError>(target.py()) && name.starts_with(FUSED) && name.ends_with('_')
}

fn refused(target: &Bound<'_, PyAny>, why: &str) -> Box<Break> {
    stop("operator that changes its operands", name_of(target), why)
}
