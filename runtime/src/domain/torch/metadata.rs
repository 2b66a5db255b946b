//! Attributes and methods that give nothing but metadata of a tensor, which guards compare.
use pyo3::prelude::*;

/// Attributes.
const ATTRIBUTES: &[&str] = &["shape", "dtype", "ndim", "requires_grad", "itemsize", "nbytes", "layout"];

/// Attributes that ask for a kind of tensor which is never recorded.
const OTHER_KINDS: &[&str] = &[
    "is_cuda",
    "is_hpu",
    "is_ipu",
    "is_maia",
    "is_meta",
    "is_mkldnn",
    "is_mps",
    "is_mtia",
    "is_nested",
    "is_quantized",
    "is_sparse",
    "is_sparse_csr",
    "is_vulkan",
    "is_xla",
    "is_xpu",
];

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

/// What an attribute says that asks for a kind of tensor: all that are recorded are strided, and on the CPU.
pub(super) fn kind(name: &str) -> Option<bool> {
    match name {
        "is_cpu" => Some(true),
        _ => OTHER_KINDS.contains(&name).then_some(false),
    }
}

pub(super) fn is_method(target: &Bound<'_, PyAny>) -> bool {
    METHODS.contains(&&*crate::ffi::callee::name_of(target))
}
