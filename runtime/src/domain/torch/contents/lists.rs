//! Lists of numbers that contents decide, and parts of tensors as long as such numbers say: how many there are is known.
use super::answer::needs;
use super::results::sizes_of;
use crate::domain::torch::examples::open::{Unread, Unsized};
use crate::domain::torch::examples::placed::place_of;
use crate::domain::torch::graph_break::{CallResult, fault};
use crate::domain::torch::meta::Meta;
use crate::domain::{Answer, Domain, Operand, unread_lists};
use crate::ffi::types;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyComplex, PyFloat, PyInt, PyTuple, PyType};

/// Longer lists are made natively: each of their items is a node. Integers choose items; with other numbers Python computes, a node for each step.
const LONGEST: i64 = 4096;
const LONGEST_OF_OTHERS: i64 = 256;

/// Functions that take a tensor apart into parts of these lengths.
const SPLITS: &[&str] = &["split", "split_with_sizes"];

impl<'py> Meta<'_, 'py> {
    /// `tensor.tolist()`, where the sizes are known.
    pub(super) fn list_of_numbers(&self, target: &Bound<'py, PyAny>, args: &[Operand<'py>]) -> Option<CallResult<'py>> {
        let [tensor @ Operand::Graph { example, .. }] = args else { return None };
        let sizes: Vec<i64> = sizes_of(tensor)?.into_iter().collect::<Option<_>>()?;
        let length = sizes.iter().try_fold(1_i64, |count, size| count.checked_mul(*size))?;
        let is_here = example.is_instance_of::<Unsized>() || place_of(example)?.is_cpu();
        let class = example.getattr(name!("dtype")).and_then(|dtype| self.class_of_numbers(&dtype)).ok()?;
        let longest = if class.is(self.py.get_type::<PyInt>()) { LONGEST } else { LONGEST_OF_OTHERS };
        if !is_here || !(1..=longest).contains(&length) || self.torch.ambient.is_transforming(self.py).unwrap_or(true) {
            return None;
        }
        let made = || {
            let getitem = self.torch.operator.bind(self.py).getattr(name!("getitem"))?;
            PyResult::Ok((unread_lists(&class, &sizes)?, getitem))
        };
        let (target, args, kwargs) = (target.clone(), args.to_vec(), Vec::new());
        let answer = |(example, getitem): (Bound<'py, PyAny>, _)| match example.is_instance_of::<Unread>() {
            true => Answer::Node { target, args, kwargs, example },
            false => Answer::Parts { target, args, kwargs, example, getitem, itself: Vec::new() },
        };
        Some(made().map(answer).map_err(|error| fault(&error)))
    }

    /// The class of what elements of a type are to Python.
    fn class_of_numbers(&self, dtype: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyType>> {
        if types::text(dtype) == "torch.bool" {
            return Ok(self.py.get_type::<pyo3::types::PyBool>());
        }
        let is = |question| dtype.getattr(question)?.is_truthy();
        Ok(match (is(name!("is_floating_point"))?, is(name!("is_complex"))?) {
            (true, _) => self.py.get_type::<PyFloat>(),
            (_, true) => self.py.get_type::<PyComplex>(),
            _ => self.py.get_type::<PyInt>(),
        })
    }

    /// A call that takes a tensor apart into parts, the lengths of which are such numbers: views of it.
    pub(super) fn parts_of_open(
        &self,
        target: &Bound<'py, PyAny>,
        name: &str,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> Option<CallResult<'py>> {
        let [tensor @ Operand::Graph { example, .. }, Operand::List(lengths) | Operand::Tuple(lengths), rest @ ..] =
            args
        else {
            return None;
        };
        let dim = match (rest, kwargs) {
            ([], []) => 0,
            ([Operand::Known(dim)], []) => dim.extract::<i64>().ok()?,
            ([], [(name, Operand::Known(dim))]) if name == "dim" => dim.extract::<i64>().ok()?,
            _ => return None,
        };
        let sizes = sizes_of(tensor)?;
        let dim = usize::try_from(if dim < 0 { dim.checked_add(sizes.len() as i64)? } else { dim }).ok()?;
        if !SPLITS.contains(&name) || dim >= sizes.len() || self.torch.ambient.is_transforming(self.py).unwrap_or(true)
        {
            return None;
        }
        let (dtype, required) = match example.cast::<Unsized>() {
            Ok(tensor) => {
                tensor.get().share();
                (tensor.get().dtype.clone_ref(self.py), tensor.get().required())
            }
            Err(_) if place_of(example)?.is_cpu() && self.torch.class_of(example).is(&self.torch.tensor) => {
                let required =
                    example.getattr(name!("requires_grad")).and_then(|required| required.is_truthy()).ok()?;
                (example.getattr(name!("dtype")).ok()?.unbind(), required)
            }
            Err(_) => return Some(Err(needs(name))),
        };
        let follows = required && self.torch.rules.modes(self.py)?.grad;
        let part = |length: &Operand<'py>| {
            let mut sizes = sizes.clone();
            sizes[dim] = match length {
                Operand::Known(length) => length.extract().ok(),
                _ => None,
            };
            Bound::new(self.py, Unsized::new(dtype.clone_ref(self.py), Some(sizes.into()), follows, true))
        };
        let made = || {
            let parts = lengths.iter().map(part).collect::<PyResult<Vec<_>>>()?;
            let getitem = self.torch.operator.bind(self.py).getattr(name!("getitem"))?;
            PyResult::Ok((PyTuple::new(self.py, parts)?.into_any(), getitem))
        };
        let (target, args, kwargs) = (target.clone(), args.to_vec(), kwargs.to_vec());
        let answer = |(example, getitem)| Answer::Parts { target, args, kwargs, example, getitem, itself: Vec::new() };
        Some(made().map(answer).map_err(|error| fault(&error)))
    }
}
