//! The greatest or least of tensors with one element: `max` and `min` give one of them.
use crate::domain::torch::examples::placed::place_of;
use crate::domain::torch::library::Torch;
use crate::domain::torch::meta::Meta;
use crate::domain::torch::own::{EXTREMES, MODULE};
use crate::domain::{Answer, Callee, Operand};
use crate::ffi::libtorch::Quiet;
use crate::names::{interned, name};
use pyo3::prelude::*;

/// What gives another tensor like one.
const COPY: &str = "clone";

impl Torch {
    /// The function, and what stands for what it gives, where the tensors are alike.
    pub(super) fn extreme_of<'py>(
        &self,
        meta: &Meta<'_, 'py>,
        name: &str,
        tensors: &[Operand<'py>],
    ) -> Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let py = meta.py;
        let examples = tensors.iter().map(|operand| match operand {
            Operand::Graph { example, layout: None, .. } => Some(example),
            _ => None,
        });
        let examples = examples.collect::<Option<Vec<_>>>()?;
        let first = self.rules.metadata(examples.first()?)?;
        meta.refuse_modes().ok()?;
        let is_alike = |example: &Bound<'py, PyAny>| {
            let like = self.rules.metadata(example)?;
            let _quiet = Quiet::about([example]);
            let is = |attribute: &str| example.getattr(attribute).ok()?.is_truthy().ok();
            let same = (like.dtype, &like.shape, &like.strides, like.requires_grad)
                == (first.dtype, &first.shape, &first.strides, first.requires_grad);
            let is_here = place_of(example)?.is_cpu() && self.class_of_example(example).is(&self.tensor);
            let is_leaf = like.requires_grad && is("is_leaf")?;
            // None of them is a view: what that is of is known of each.
            Some(same && is_here && !is_leaf && self.base_of_example(example)?.is_none())
        };
        let is_one = first.shape.iter().all(|length| *length == 1);
        if !is_one || !examples.iter().all(|example| is_alike(example).unwrap_or(false)) {
            return None;
        }
        let made = self.answer_to(meta, &Callee::Method(COPY.into()), &tensors[..1], &[]).ok()?;
        let Answer::Node { example, .. } = made else { return None };
        let place = usize::from(name == "max");
        let function =
            crate::ffi::modules::import(py, MODULE).and_then(|own| own.getattr(interned(py, EXTREMES[place]))).ok()?;
        let needs = example.getattr(name!("requires_grad")).ok()?.is_truthy().ok()?;
        (needs == first.requires_grad).then_some((function, example))
    }
}
