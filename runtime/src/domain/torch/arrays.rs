//! Arrays of numpy beside tensors: a call makes one of the other, in the same memory or as a copy.
use super::examples::array_scalars::is_scalar;
use super::examples::empty_like::empty_like;
use super::examples::place::Place;
use super::examples::placed::place_of;
use super::functions::kinds::OVERRIDES;
use super::graph_break::{CallResult, fault, stop};
use super::meta::{Meta, fails};
use crate::domain::{Answer, Callee, NumberUse, Operand};
use crate::ffi::callee;
use crate::graph_break::Break;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

const KIND: &str = "array beside tensors";

/// Functions of PyTorch's that make tensors of arrays.
const MAKERS: &[&str] = &["from_numpy", "as_tensor", "tensor"];

/// Whether a function of this name makes a tensor of an array.
pub(super) fn makes_tensors(name: &str) -> bool {
    MAKERS.contains(&name)
}

fn has_scalars(operand: &Operand<'_>) -> bool {
    match operand {
        Operand::Graph { example, .. } => is_scalar(example),
        Operand::Tuple(items) | Operand::List(items) => items.iter().any(has_scalars),
        Operand::Slice(parts) => parts.iter().any(has_scalars),
        Operand::Known(_) | Operand::Number { .. } | Operand::Foreign(_) => false,
    }
}

impl<'py> Meta<'_, 'py> {
    /// Breaks where what an operation gives may depend on what a scalar of numpy's is.
    pub(super) fn refuse_scalars(
        &self,
        callee: &Callee<'py>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> Result<(), Box<Break>> {
        let any = args.iter().chain(kwargs.iter().map(|(_, value)| value)).any(has_scalars);
        // Whether a class takes over calls, numbers do not say.
        let asks = matches!(callee, Callee::Function(function) if OVERRIDES.contains(&&*callee::name_of(function)));
        match any && !asks && self.torch.use_of_numbers_in(callee) == NumberUse::Other {
            true => Err(stop(KIND, "scalar of numpy", "What the operation gives may depend on the number.")),
            false => Ok(()),
        }
    }

    /// `tensor.numpy()`: the same memory.
    pub(super) fn array_of(
        &self,
        target: Bound<'py, PyAny>,
        example: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> CallResult<'py> {
        self.refuse_modes()?;
        let is_here = place_of(example).is_some_and(|place| place.is_cpu());
        let is_plain =
            args.len() == 1 && kwargs.is_empty() && !self.torch.ambient.is_transforming(self.py).unwrap_or(true);
        if !is_here || !is_plain {
            return Err(stop(KIND, "Tensor.numpy", "Only plain calls on tensors of the CPU are recorded."));
        }
        let made = || {
            let like = match self.torch.rules.metadata(example) {
                // No array is conjugate.
                Some(_)
                    if !example
                        .getattr_opt(name!("is_conj"))?
                        .is_some_and(|ask| ask.call0().is_ok_and(|yes| yes.is_truthy().unwrap_or(true))) =>
                {
                    self.stand_in_on_cpu(example)?
                }
                _ => return Ok(None),
            };
            target.call1((like.call_method0(name!("zero_"))?,)).map(Some)
        };
        match made() {
            Ok(Some(array)) => Ok(Answer::Node { target, args: args.to_vec(), kwargs: Vec::new(), example: array }),
            Ok(None) => Err(stop(KIND, "Tensor.numpy", "No array is like the tensor.")),
            Err(error) => Err(fails(&target, &error)),
        }
    }

    /// A tensor of the CPU that stands for one.
    pub(super) fn stand_in_on_cpu(&self, example: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        empty_like(self.torch.module.bind(self.py), &super::stand_ins::stand_in(self.torch, example)?, "cpu")
    }

    /// `torch.from_numpy(array)` and the like.
    pub(super) fn tensor_of(
        &self,
        target: Bound<'py, PyAny>,
        array: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> CallResult<'py> {
        self.refuse_modes()?;
        let is_written = || array.getattr(name!("flags"))?.getattr(name!("writeable"))?.is_truthy();
        let named = PyDict::new(self.py);
        for (name, value) in kwargs {
            match (&**name, value) {
                ("dtype", Operand::Known(dtype)) => named.set_item(name, dtype).map_err(|error| fault(&error))?,
                _ => return Err(stop(KIND, name, "Only the type of the tensor may be said.")),
            }
        }
        let [_] = args else { return Err(stop(KIND, "from_numpy", "It takes one array.")) };
        if self.torch.ambient.is_transforming(self.py).unwrap_or(true)
            || !is_written().map_err(|error| fault(&error))?
        {
            return Err(stop(KIND, "from_numpy", "PyTorch warns of arrays that nobody may change."));
        }
        let made = PyTuple::new(self.py, [array]).and_then(|array| target.call(array, Some(&named)));
        let made = made.map_err(|error| fails(&target, &error))?;
        let example = empty_like(self.torch.module.bind(self.py), &made, "meta").map_err(|error| fault(&error))?;
        Place::default().tell(&example).map_err(|error| fault(&error))?;
        Ok(Answer::Node { target, args: args.to_vec(), kwargs: kwargs.to_vec(), example })
    }
}
