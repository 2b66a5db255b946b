//! What tells nothing but metadata of a tensor, which guards compare.
use pyo3::prelude::*;

/// Attributes.
const ATTRIBUTES: &[&str] = &["shape", "dtype", "ndim", "requires_grad", "itemsize", "nbytes", "layout"];

/// Methods, and functions of tensors.
const METHODS: &[&str] = &[
    "dim",
    "ndimension",
    "size",
    "stride",
    "numel",
    "nelement",
    "element_size",
    "is_contiguous",
    "is_floating_point",
    "is_complex",
    "is_signed",
    "is_conj",
    "is_neg",
    "is_same_size",
    "result_type",
];

pub(super) fn is_attribute(name: &str) -> bool {
    ATTRIBUTES.contains(&name)
}

pub(super) fn is_method(target: &Bound<'_, PyAny>) -> bool {
    METHODS.contains(&&*crate::ffi::called::name_of(target))
}
