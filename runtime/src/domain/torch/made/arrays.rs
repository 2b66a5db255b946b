//! Arrays of numpy beside tensors: a call makes one of the other, in the same memory or as a copy.
use super::{DEVICE, made_of};
use crate::domain::torch::examples::array_scalars::is_scalar;
use crate::domain::torch::examples::empty_like::empty_like;
use crate::domain::torch::examples::place::Place;
use crate::domain::torch::examples::placed::place_of;
use crate::domain::torch::examples::site::unplaced;
use crate::domain::torch::functions::kinds::OVERRIDES;
use crate::domain::torch::graph_break::{CallResult, fault, stop};
use crate::domain::torch::meta::{Meta, fails};
use crate::domain::torch::stand_ins::stand_in;
use crate::domain::{Answer, Callee, NumberUse, Operand};
use crate::ffi::callee;
use crate::ffi::libtorch::Quiet;
use crate::graph_break::Break;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::PyDict;

const KIND: &str = "array beside tensors";

/// What calls that make a tensor may be told of it, and of its memory.
const OPTIONS: &[&str] = &["dtype", "requires_grad", "pin_memory", "copy"];

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
    pub(in crate::domain::torch) fn refuse_scalars(
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
    pub(in crate::domain::torch) fn array_of(
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
    pub(in crate::domain::torch) fn stand_in_on_cpu(&self, example: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        empty_like(self.torch.module.bind(self.py), &stand_in(self.torch, example)?, "cpu")
    }

    /// `torch.from_numpy(array)` and the like; `None`: the call is another one.
    pub(in crate::domain::torch) fn tensor_of(
        &self,
        name: &str,
        target: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> Option<CallResult<'py>> {
        let (like, Operand::Graph { example: array, .. }) = made_of(name, args)? else { return None };
        let is_tensor = |object| self.torch.is_tensor(object);
        (!is_tensor(array) && like.is_none_or(is_tensor)).then(|| self.tensor_made(target, (like, array), args, kwargs))
    }

    /// What such a call gives; `like` is the tensor whose method it is.
    fn tensor_made(
        &self,
        target: &Bound<'py, PyAny>,
        (like, array): (Option<&Bound<'py, PyAny>>, &Bound<'py, PyAny>),
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> CallResult<'py> {
        self.refuse_modes()?;
        let named = PyDict::new(self.py);
        let mut place = like.map_or_else(|| Some(Place::default()), place_of).ok_or_else(unplaced)?;
        for (name, value) in kwargs {
            match (&**name, value) {
                (DEVICE, Operand::Known(device)) if device.is_none() => {}
                (DEVICE, Operand::Known(device)) => {
                    place = Place::named(device)
                        .ok_or_else(|| stop(KIND, DEVICE, "It is the current device, where there are several."))?;
                }
                (name, Operand::Known(value)) if OPTIONS.contains(&name) => {
                    named.set_item(name, value).map_err(|error| fault(&error))?;
                }
                _ => return Err(stop(KIND, name, "What it is told is not known.")),
            }
        }
        let is_written = || array.getattr(name!("flags"))?.getattr(name!("writeable"))?.is_truthy();
        if self.torch.ambient.is_transforming(self.py).unwrap_or(true)
            || !is_scalar(array) && !is_written().map_err(|error| fault(&error))?
        {
            return Err(stop(KIND, "from_numpy", "PyTorch warns of arrays that nobody may change."));
        }
        let module = self.torch.module.bind(self.py);
        let made = || match like {
            // In the place of the tensor, one of no elements of its type.
            Some(like) => {
                let _quiet = Quiet::about([like]);
                let empty = module.getattr(name!("empty"))?.call1((0,))?;
                let empty = empty.call_method1(name!("to"), (like.getattr(name!("dtype"))?,))?;
                target.call((empty, array), Some(&named))
            }
            None => target.call((array,), Some(&named)),
        };
        let made = made().map_err(|error| fails(target, &error))?;
        let example = empty_like(module, &made, "meta").map_err(|error| fault(&error))?;
        place.tell(&example).map_err(|error| fault(&error))?;
        Ok(Answer::Node { target: target.clone(), args: args.to_vec(), kwargs: kwargs.to_vec(), example })
    }
}
