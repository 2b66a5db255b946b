//! Classes that are called for a tensor of numbers, or of some sizes: `torch.Tensor(2, 3)`, `torch.LongTensor([0, 1])`. The graph calls what
//! makes the same.
use crate::domain::torch::functions::kinds::SIZE;
use crate::domain::torch::graph_break::{CallResult, fault, stop};
use crate::domain::torch::library::Torch;
use crate::domain::torch::meta::{Meta, overridden};
use crate::domain::{Answer, Operand};
use crate::ffi::types;
use crate::names::interned;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList, PyTuple};

/// The class of `torch.LongTensor` and the like.
const KIND: &str = "torch.tensortype";

impl Torch {
    /// Whether it is such a class.
    pub(in crate::domain::torch) fn is_constructor(&self, callable: &Bound<'_, PyAny>) -> bool {
        callable.is(&self.tensor) || types::is_c_class(&callable.get_type(), KIND)
    }

    /// A call of one.
    pub(in crate::domain::torch) fn constructed<'py>(
        &self,
        meta: &Meta<'_, 'py>,
        class: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> CallResult<'py> {
        let refused = |why: &str| Err(stop("call of a class of tensors", types::text(class), why));
        meta.refuse_modes()?;
        if !self.ambient.function_modes().are_devices(meta.py).map_err(|error| fault(&error))? {
            return Err(overridden());
        }
        if !kwargs.is_empty() || self.ambient.is_transforming(meta.py).unwrap_or(true) {
            return refused("It takes sizes, or numbers.");
        }
        let (maker, args) = match args {
            [data @ (Operand::List(_) | Operand::Graph { .. })] if !self.is_tensor_operand(data) => ("as_tensor", args),
            [Operand::Known(data)]
                if data.is_exact_instance_of::<PyTuple>() || data.is_exact_instance_of::<PyList>() =>
            {
                ("as_tensor", args)
            }
            [Operand::Known(sizes)] if self.is_sizes(sizes) => ("empty", args),
            [] => ("empty", &[Operand::Known(PyInt::new(meta.py, 0_i64).into_any())][..]),
            sizes if sizes.iter().all(is_size) => ("empty", sizes),
            _ => return refused("It takes sizes, or numbers."),
        };
        let named = || {
            // It says where and of what type they are now.
            let like = class.call0()?;
            let option =
                |name: &str| PyResult::Ok((name.to_owned(), Operand::Known(like.getattr(interned(meta.py, name))?)));
            PyResult::Ok((self.module.bind(meta.py).getattr(maker)?, vec![option("dtype")?, option("device")?]))
        };
        let (target, named) = named().map_err(|error| fault(&error))?;
        match meta.perform(maker, target, args, &named)? {
            made @ Answer::Node { .. } => Ok(made),
            _ => refused("It takes sizes, or numbers."),
        }
    }

    fn is_sizes(&self, object: &Bound<'_, PyAny>) -> bool {
        types::is_c_class(&object.get_type(), SIZE)
    }

    fn is_tensor_operand(&self, operand: &Operand<'_>) -> bool {
        matches!(operand, Operand::Graph { example, .. } if self.is_tensor(example))
    }
}

/// Whether an operand is an integer of Python's.
fn is_size(operand: &Operand<'_>) -> bool {
    match operand {
        Operand::Known(size) | Operand::Number { hint: size, .. } => size.is_exact_instance_of::<PyInt>(),
        _ => false,
    }
}
