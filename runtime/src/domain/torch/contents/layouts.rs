//! How results lie in memory that no rule knows: the kernel that will run is asked, on zeros.
//!
//! Kernels of the `meta` device, and fake tensors, know sizes; strides they give as those of some other device do, or as nobody does.
use crate::domain::torch::examples::layout::layout_of;
use crate::domain::torch::examples::site::Site;
use crate::domain::torch::examples::sketch::Sketch;
use crate::domain::torch::library::Torch;
use crate::domain::torch::meta::Meta;
use crate::domain::{Answer, LayoutQuestion, Operand};
use crate::ffi::{callee, types};
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

impl Torch {
    /// What to ask the kernel, where it may lay out otherwise what a call of PyTorch's own gives.
    pub(in crate::domain::torch) fn question_about_layout<'a, 'py>(
        &'a self,
        py: Python<'py>,
        answer: &'a Answer<'py>,
    ) -> Option<LayoutQuestion<'a, 'py>> {
        let (Answer::Node { target, args, kwargs, example } | Answer::Parts { target, args, kwargs, example, .. }) =
            answer
        else {
            return None;
        };
        let is_sure = items(example).iter().any(|item| !item.is_none() && !self.may_lie_otherwise(item));
        let is_c = ["method_descriptor", "builtin_function_or_method"].contains(&&*types::c_name(&target.get_type()));
        if is_sure || !is_c || self.ambient.are_wrapped(py, args).unwrap_or(true) {
            return None;
        }
        let site = Site::of(&callee::name_of(target), args, kwargs).ok()?;
        // Elsewhere the kernels of the `meta` device are those that know.
        if !matches!(site, Site::One(place) if place.is_cpu()) || !self.is_plain_operator(target).unwrap_or(false) {
            return None;
        }
        let ask = move || {
            let meta = Meta { torch: self, py };
            let by_kernel = self.repeated_warnings.during(py, || meta.by_kernel(target, args, kwargs))?;
            differs(example, &by_kernel).then_some(by_kernel)
        };
        Some(Box::new(ask))
    }

    /// Whether it is an example that `PyTorch` has given, not a rule.
    fn may_lie_otherwise(&self, example: &Bound<'_, PyAny>) -> bool {
        let is = |question| example.call_method0(question).and_then(|answer: Bound<'_, PyAny>| answer.is_truthy());
        let is_plain = || !is(name!("is_conj")).unwrap_or(true) && !is(name!("is_neg")).unwrap_or(true);
        !example.is_instance_of::<Sketch>() && self.is_tensor(example) && is_plain()
    }
}

impl<'py> Meta<'_, 'py> {
    /// What the kernel gives of zeros; `None`: it wants other contents.
    pub(super) fn by_kernel(
        &self,
        target: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> Option<Bound<'py, PyAny>> {
        self.keeping_random(|| Ok(self.run(target, args, kwargs, true))).ok()?.ok().map(|(_, given)| given)
    }
}

/// The items of a list or a tuple; what is no such thing, itself.
fn items<'py>(example: &Bound<'py, PyAny>) -> Vec<Bound<'py, PyAny>> {
    let is_sequence = example.is_instance_of::<PyTuple>() || example.is_instance_of::<PyList>();
    let parts = || example.try_iter().ok()?.collect::<PyResult<Vec<_>>>().ok();
    is_sequence.then(parts).flatten().unwrap_or_else(|| vec![example.clone()])
}

/// Whether as many tensors are as large, or small, as these, and some lie otherwise.
fn differs<'py>(example: &Bound<'py, PyAny>, by_kernel: &Bound<'py, PyAny>) -> bool {
    let (known, given) = (items(example), items(by_kernel));
    let same_kind = example.get_type().is(by_kernel.get_type()) && known.len() == given.len();
    let both_none = |(one, other): (&Bound<'py, PyAny>, &Bound<'py, PyAny>)| one.is_none() == other.is_none();
    let layout = |item: &Bound<'py, PyAny>| if item.is_none() { None } else { layout_of(item) };
    same_kind
        && known.iter().zip(&given).all(both_none)
        && known.iter().zip(&given).any(|(one, other)| layout(one) != layout(other))
}
