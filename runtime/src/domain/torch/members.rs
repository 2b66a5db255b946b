//! Slots and attributes of tensors.
use super::examples::place::Place;
use super::examples::placed::place_of;
use super::examples::site::unplaced;
use super::examples::sketch::Sketch;
use super::examples::unheard::says;
use super::graph_break::{CallResult, fault, stop};
use super::library::Torch;
use super::meta::Meta;
use super::metadata;
use super::own::VERSION_OF;
use super::quantised::is_quantised;
use crate::domain::{Answer, Operand};
use crate::ffi::libtorch::Quiet;
use crate::graph_break::Break;
use crate::names::{interned, name};
use pyo3::prelude::*;

impl Torch {
    /// Slots of the type, by the function of `operator` that reaches them.
    pub(super) fn slot<'py>(&self, meta: &Meta<'_, 'py>, slot: &str, args: &[Operand<'py>]) -> CallResult<'py> {
        const OPERATORS: &[(&str, &str)] = &[
            ("nb_negative", "neg"),
            ("nb_positive", "pos"),
            ("nb_absolute", "abs"),
            ("nb_invert", "invert"),
            ("mp_subscript", "getitem"),
            ("sq_item", "getitem"),
        ];
        const COMPARE: [&str; 6] = ["lt", "le", "eq", "ne", "gt", "ge"];
        let operator = |name: &str| self.operator.bind(meta.py).getattr(name).map_err(|error| fault(&error));
        match (slot, args) {
            ("tp_richcompare", [left, right, Operand::Known(which)]) => {
                let name = which.extract::<usize>().ok().and_then(|which| COMPARE.get(which));
                let Some(name) = name else { return Err(depends(slot)) };
                meta.record(operator(name)?, &[left.clone(), right.clone()], &[])
            }
            ("mp_ass_subscript", [_, _, _]) => meta.perform("__setitem__", operator("setitem")?, args, &[]),
            ("mp_length" | "sq_length", [tensor]) => {
                let length = meta.object(tensor)?.len();
                let Ok(length) = length else { return Err(depends(slot)) };
                match length.into_pyobject(meta.py) {
                    Ok(length) => Ok(Answer::Constant(length.into_any())),
                    Err(never) => match never {},
                }
            }
            _ => match OPERATORS.iter().find(|(known, _)| *known == slot) {
                Some((_, name)) => meta.record(operator(name)?, args, &[]),
                None => Err(depends(slot)),
            },
        }
    }

    pub(super) fn attribute<'py>(&self, meta: &Meta<'_, 'py>, name: &str, args: &[Operand<'py>]) -> CallResult<'py> {
        const VIEWS: &[&str] = &["T", "mT", "H", "mH", "real", "imag", "data"];
        let Some(tensor) = args.first() else { return Err(depends(name)) };
        if let Operand::Graph { example, .. } = tensor
            && let Ok(sketch) = example.cast::<Sketch>()
            && let Some(answer) = self.attribute_of(meta.py, sketch.get(), name).map_err(|error| fault(&error))?
        {
            return Ok(Answer::Constant(answer));
        }
        if let Operand::Graph { example, .. } = tensor
            && is_quantised(example)
        {
            return meta.attribute_of_quantised(example, name);
        }
        let object = meta.object(tensor)?;
        if metadata::is_attribute(name) {
            // A tensor from outside tells by itself: what stands for it is made under the modes that are in force.
            let object = match tensor {
                Operand::Graph { example, .. } if self.is_tensor(example) && !example.is_instance_of::<Sketch>() => {
                    example
                }
                _ => &object,
            };
            let _quiet = Quiet::about([object]);
            return object.getattr(interned(meta.py, name)).map(Answer::Constant).map_err(|error| fault(&error));
        }
        let place = || match tensor {
            Operand::Graph { example, .. } => place_of(example).ok_or_else(unplaced),
            _ => Ok(Place::default()),
        };
        if metadata::is_kind(name) {
            let answer = metadata::kind(name, &place()?);
            return Ok(Answer::Constant(pyo3::types::PyBool::new(meta.py, answer).to_owned().into_any()));
        }
        match name {
            // The guard on a tensor from outside says whether it is a leaf.
            "is_leaf" if is_leaf_from_outside(tensor) => {
                Ok(Answer::Constant(pyo3::types::PyBool::new(meta.py, true).to_owned().into_any()))
            }
            "grad_fn" if is_leaf_from_outside(tensor) => Ok(Answer::Constant(meta.py.None().into_bound(meta.py))),
            "device" => {
                let device = place()?.object(meta.py);
                device.map(Answer::Constant).map_err(|error| fault(&error))
            }
            // A tensor that needs no gradients is a leaf.
            "is_leaf" | "grad_fn" if meta.is_known_to_gradients(tensor).map_err(|error| fault(&error))? => {
                let answer = object.getattr(interned(meta.py, name)).map_err(|error| fault(&error))?;
                match name == "is_leaf" || answer.is_none() {
                    true => Ok(Answer::Constant(answer)),
                    false => Err(stop(
                        "attribute of a tensor that is not recorded",
                        name,
                        "It is known when the graph has run.",
                    )),
                }
            }
            "_version" => meta.of_object(VERSION_OF, tensor),
            _ if VIEWS.contains(&name) => {
                let getattr = crate::ffi::modules::import(meta.py, "builtins")
                    .and_then(|builtins| builtins.getattr(name!("getattr")));
                let name = interned(meta.py, name).into_any();
                meta.record(getattr.map_err(|error| fault(&error))?, &[tensor.clone(), Operand::Known(name)], &[])
            }
            _ => Err(stop("attribute of a tensor that is not recorded", name, "Its value may depend on contents.")),
        }
    }
}

/// Whether an operand is a leaf from outside, which stands for itself.
fn is_leaf_from_outside(operand: &Operand<'_>) -> bool {
    let Operand::Graph { example, .. } = operand else { return false };
    !example.is_instance_of::<Sketch>()
        && says(example, name!("is_meta")).is_ok_and(|is_meta| !is_meta)
        && says(example, name!("is_leaf")).unwrap_or(false)
}

fn depends(slot: &str) -> Box<Break> {
    stop(
        "depends on the contents of a tensor",
        format!("slot {slot}"),
        "Python needs the contents, which are known only when the graph has run.",
    )
}
