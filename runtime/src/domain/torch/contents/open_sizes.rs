//! Operations that take integers which contents decide for sizes or bounds: only how long results are depends on them.
use super::tags::operation;
use crate::domain::torch::examples::open::{Unread, Unsized, has_unread, is_open};
use crate::domain::torch::graph_break::{CallResult, fault};
use crate::domain::torch::meta::Meta;
use crate::domain::torch::named::own_name;
use crate::domain::torch::symbols::sizes::name_of;
use crate::domain::{Answer, Callee, Operand};
use crate::ffi::types;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString, PyType};

/// Of them, whatever the integers, results have as many dimensions and are of one type.
const TAKE_SIZES: &[&str] = &[
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "arange",
    "empty",
    "expand",
    "eye",
    "full",
    "getitem",
    "linspace",
    "narrow",
    "new_empty",
    "new_full",
    "new_ones",
    "new_zeros",
    "one_hot",
    "ones",
    "pad",
    "rand",
    "randint",
    "randn",
    "randperm",
    "repeat",
    "reshape",
    "roll",
    "tile",
    "topk",
    "upsample_bicubic2d",
    "upsample_bilinear2d",
    "upsample_linear1d",
    "upsample_nearest1d",
    "upsample_nearest2d",
    "upsample_nearest3d",
    "upsample_trilinear3d",
    "view",
    "zeros",
];

/// Options of them that change more than what results hold.
const OTHER_OPTIONS: &[&str] = &["generator", "layout", "memory_format", "names", "out", "pin_memory", "requires_grad"];

/// Whether a call is one of them.
pub(in crate::domain::torch) fn takes_open_sizes(callee: &Callee<'_>) -> bool {
    TAKE_SIZES.contains(&name_of(callee).trim_matches('_'))
}

/// Whether a call of a function is one of them, and is given such an integer.
pub(super) fn has_open_sizes(
    target: &Bound<'_, PyAny>,
    args: &[Operand<'_>],
    kwargs: &[(String, Operand<'_>)],
) -> bool {
    let own = own_name(target);
    let is_one = TAKE_SIZES.contains(&own.trim_matches('_')) && operation(target).is_some();
    is_one && args.iter().chain(kwargs.iter().map(|(_, value)| value)).any(has_unread)
}

/// Whether an option leaves a result of theirs on the CPU, and without a history of its own.
pub(super) fn is_plain_option((name, value): &(String, Operand<'_>)) -> bool {
    match name.as_str() {
        "device" => matches!(value, Operand::Known(device) if device.is_none() || types::text(device) == "cpu"),
        other => !OTHER_OPTIONS.contains(&other),
    }
}

/// Whether an answer is a fresh tensor, or a view, of unknown length: what else an operation gives may be an operand, or one element of it.
pub(super) fn is_unsized(answer: &Answer<'_>) -> bool {
    let is = |example: &Bound<'_, PyAny>| example.is_instance_of::<Unsized>();
    match answer {
        Answer::Node { example, .. } => is(example),
        Answer::Parts { example, .. } => {
            example.try_iter().is_ok_and(|mut items| items.all(|item| item.is_ok_and(|item| is(&item))))
        }
        _ => false,
    }
}

impl<'py> Meta<'_, 'py> {
    /// How long a tensor without sizes is: `size(dim)`, `numel()`, `len(tensor)`.
    pub(super) fn length_of_open(
        &self,
        target: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> Option<CallResult<'py>> {
        let (Some(Operand::Graph { example, .. }), true) = (args.first(), kwargs.is_empty()) else { return None };
        let sizes = example.cast::<Unsized>().ok()?.get().sizes.as_deref()?;
        if &*own_name(target) == "size" && args.len() == 1 {
            return Some(self.sizes_of_open(target.clone(), args, sizes));
        }
        let known = match (&*own_name(target), &args[1..]) {
            ("numel" | "nelement", []) => {
                sizes.iter().try_fold(1_i64, |count, size| size.and_then(|size| count.checked_mul(size)))
            }
            ("len" | "__len__", []) => *sizes.first()?,
            ("size", [Operand::Known(dim)]) if dim.is_exact_instance_of::<PyInt>() => {
                let dim: i64 = dim.extract().ok()?;
                let wrapped = if dim < 0 { dim.checked_add(sizes.len() as i64)? } else { dim };
                *sizes.get(usize::try_from(wrapped).ok()?)?
            }
            _ => return None,
        };
        if let Some(known) = known {
            return Some(Ok(Answer::Constant(PyInt::new(self.py, known).into_any())));
        }
        let node = |example| Answer::Node { target: target.clone(), args: args.to_vec(), kwargs: Vec::new(), example };
        Some(self.unread_integer().map(node).map_err(|error| fault(&error)))
    }

    /// `tensor.shape` of a tensor without sizes.
    pub(super) fn shape_of_open(&self, tensor: &Operand<'py>) -> Option<CallResult<'py>> {
        let Operand::Graph { example, .. } = tensor else { return None };
        let sizes = example.cast::<Unsized>().ok()?.get().sizes.as_deref()?;
        let args = [tensor.clone(), Operand::Known(PyString::new(self.py, "shape").into_any())];
        Some(self.sizes_of_open(self.torch.rules.getattr.bind(self.py).clone(), &args, sizes))
    }

    /// All sizes of such a tensor.
    fn sizes_of_open(
        &self,
        target: Bound<'py, PyAny>,
        args: &[Operand<'py>],
        sizes: &[Option<i64>],
    ) -> CallResult<'py> {
        let made = || {
            let class = self.torch.module.bind(self.py).getattr(name!("Size"))?.cast_into::<PyType>()?;
            let object = |size: &Option<i64>| match size {
                Some(size) => Ok(PyInt::new(self.py, *size).into_any()),
                None => self.unread_integer(),
            };
            let sizes = sizes.iter().map(object).collect::<PyResult<_>>()?;
            PyResult::Ok((
                types::tuple_of(&class, sizes)?,
                self.torch.operator.bind(self.py).getattr(name!("getitem"))?,
            ))
        };
        let (example, getitem) = made().map_err(|error| fault(&error))?;
        if !is_open(&example) {
            return Ok(Answer::Constant(example));
        }
        let args = args.to_vec();
        Ok(Answer::Parts { target, args, kwargs: Vec::new(), example, getitem, itself: Vec::new() })
    }

    fn unread_integer(&self) -> PyResult<Bound<'py, PyAny>> {
        Ok(Bound::new(self.py, Unread { class: self.py.get_type::<PyInt>().unbind() })?.into_any())
    }
}
