//! Quantised tensors: what makes one of another tensor, and the other way round. The `meta` device has none, so that kernels of the CPU say
//! what they are, for tensors whose contents are zeros.
use super::examples::empty_like::empty_like;
use super::examples::place::Place;
use super::examples::placed::place_of;
use super::graph_break::{CallResult, fault, stop};
use super::meta::{Meta, fails};
use crate::domain::{Answer, Operand, Undoing};
use crate::ffi::libtorch::Quiet;
use crate::graph_break::Break;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

const KIND: &str = "operation on quantised tensors";

/// What makes plain tensors of quantised ones.
const FROM: &[&str] = &["dequantize", "int_repr"];

/// What makes quantised tensors of plain ones.
const TO: &[&str] = &["quantize_per_tensor", "quantize_per_channel"];

/// Whether an operation of this name makes one kind of tensors of the other.
pub(super) fn is_conversion(name: &str) -> bool {
    FROM.contains(&name) || TO.contains(&name)
}

/// Whether an example is a quantised tensor.
pub(super) fn is_quantised(example: &Bound<'_, PyAny>) -> bool {
    let _quiet = Quiet::about([example]);
    example
        .getattr_opt(name!("is_quantized"))
        .is_ok_and(|found| found.is_some_and(|quantised| quantised.is_truthy().unwrap_or(false)))
}

/// Whether it is an object of PyTorch's C++ that holds weights as kernels want them.
pub(super) fn is_packed(object: &Bound<'_, PyAny>) -> bool {
    let kind = || object.call_method0(name!("_type"))?.str();
    crate::ffi::types::c_name(&object.get_type()).ends_with(".ScriptObject")
        && kind().is_ok_and(|kind| kind.to_string_lossy().contains(".classes.quantized."))
}

/// Whether an operand is such an object.
pub(super) fn takes_packed(operand: &Operand<'_>) -> bool {
    matches!(operand, Operand::Known(object) if is_packed(object))
}

/// Whether an object stands for an operand, or for a part of one.
fn is_within(operand: &Operand<'_>, object: &Bound<'_, PyAny>) -> bool {
    operand.any_example(&|example| example.is(object))
}

type CallResultOf<'py> = Result<Bound<'py, PyAny>, Box<Break>>;

impl<'py> Meta<'_, 'py> {
    /// A call that makes one kind of tensors of the other.
    pub(super) fn convert(
        &self,
        name: &str,
        target: Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> CallResult<'py> {
        self.refuse_modes()?;
        let ambient = &self.torch.ambient;
        let Some(Operand::Graph { example, .. }) = args.first() else {
            return Err(stop(KIND, name, "Only calls on one tensor are recorded."));
        };
        let is_here = place_of(example).is_some_and(|place| place.is_cpu());
        let is_plain = || PyResult::Ok(!ambient.is_transforming(self.py)? && !ambient.is_autocast(self.py)?);
        if !is_here || FROM.contains(&name) != is_quantised(example) || !is_plain().map_err(|error| fault(&error))? {
            return Err(stop(KIND, name, "Only plain calls on tensors of the CPU are recorded."));
        }
        let called = self.called_filled(&target, args, kwargs)?;
        let example = match is_quantised(&called) {
            true => called,
            false => self.without_contents_of(&called).map_err(|error| fault(&error))?,
        };
        Ok(Answer::Node { target, args: args.to_vec(), kwargs: kwargs.to_vec(), example })
    }

    /// What a callable gives of tensors whose contents are zeros.
    fn called_filled(
        &self,
        target: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> CallResultOf<'py> {
        let objects = args.iter().map(|arg| self.filled(arg)).collect::<Result<Vec<_>, _>>()?;
        let named = PyDict::new(self.py);
        for (name, value) in kwargs {
            named.set_item(name, self.filled(value)?).map_err(|error| fault(&error))?;
        }
        let called = PyTuple::new(self.py, objects).and_then(|objects| target.call(objects, Some(&named)));
        called.map_err(|error| fails(target, &error))
    }

    /// An operation on quantised tensors, or with packed weights.
    pub(super) fn of_quantised(
        &self,
        name: &str,
        target: Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> CallResult<'py> {
        self.refuse_modes()?;
        let ambient = &self.torch.ambient;
        let is_elsewhere = |example: &Bound<'_, PyAny>| place_of(example).is_none_or(|place| !place.is_cpu());
        let is_followed = |example: &Bound<'_, PyAny>| self.torch.keeps_history(example);
        let is_odd = |operand: &Operand<'py>| operand.any_example(&is_elsewhere) || operand.any_example(&is_followed);
        let is_plain = || PyResult::Ok(!ambient.is_transforming(self.py)? && !ambient.is_autocast(self.py)?);
        let all = || args.iter().chain(kwargs.iter().map(|(_, value)| value));
        if all().any(is_odd) || !is_plain().map_err(|error| fault(&error))? {
            return Err(stop(
                KIND,
                name,
                "Only plain calls on tensors of the CPU are recorded that no gradients follow.",
            ));
        }
        let called = self.keeping_random(|| Ok(self.called_filled(&target, args, kwargs)));
        let called = called.map_err(|error| fault(&error))??;
        if !self.torch.is_tensor(&called) || all().any(|operand| is_within(operand, &called)) {
            return Err(stop(KIND, name, "It gives no new tensor."));
        }
        let example = match is_quantised(&called) {
            true => called,
            false => self.without_contents_of(&called).map_err(|error| fault(&error))?,
        };
        Ok(Answer::Node { target, args: args.to_vec(), kwargs: kwargs.to_vec(), example })
    }

    /// A tensor with contents that stands for an operand.
    fn filled(&self, operand: &Operand<'py>) -> Result<Bound<'py, PyAny>, Box<Break>> {
        match operand {
            Operand::Graph { example, .. } if is_quantised(example) => Ok(example.clone()),
            Operand::Graph { example, .. } => {
                let made = self.stand_in_on_cpu(example).and_then(|made| made.call_method0(name!("detach")));
                made.and_then(|made| made.call_method0(name!("zero_"))).map_err(|error| fault(&error))
            }
            Operand::Tuple(items) => {
                let items = items.iter().map(|item| self.filled(item)).collect::<Result<Vec<_>, _>>()?;
                PyTuple::new(self.py, items).map(Bound::into_any).map_err(|error| fault(&error))
            }
            Operand::List(items) => {
                let items = items.iter().map(|item| self.filled(item)).collect::<Result<Vec<_>, _>>()?;
                PyList::new(self.py, items).map(Bound::into_any).map_err(|error| fault(&error))
            }
            other => self.folded(other),
        }
    }

    fn without_contents_of(&self, tensor: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let made = empty_like(self.torch.module.bind(self.py), tensor, "meta")?;
        Place::default().tell(&made)?;
        Ok(made)
    }

    /// An attribute of a quantised tensor.
    pub(super) fn attribute_of_quantised(&self, example: &Bound<'py, PyAny>, attribute: &str) -> CallResult<'py> {
        const KNOWN: &[&str] = &["shape", "dtype", "ndim", "is_quantized", "layout", "requires_grad"];
        match KNOWN.contains(&attribute) {
            true => example.getattr(attribute).map(Answer::Constant).map_err(|error| fault(&error)),
            false => Err(stop("attribute of a tensor that is not recorded", attribute, "The tensor is quantised.")),
        }
    }
}
