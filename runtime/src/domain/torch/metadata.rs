//! Attributes and methods that give nothing but metadata of a tensor, which guards compare.
use super::examples::place::Place;
use crate::domain::torch::named::own_name;
use crate::ffi::libtorch::Quiet;
use crate::ffi::libtorch::has_history_when_asked;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Attributes.
const ATTRIBUTES: &[&str] = &["shape", "dtype", "ndim", "requires_grad", "itemsize", "nbytes", "layout", "name"];

/// Attributes that ask for a kind of tensor, by its device or its layout.
const KINDS: &[&str] = &[
    "is_cpu",
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

/// Whether an attribute asks for a kind of tensor.
pub(super) fn is_kind(name: &str) -> bool {
    KINDS.contains(&name)
}

/// What such an attribute says: all that are recorded are strided.
pub(super) fn kind(name: &str, place: &Place) -> bool {
    name.strip_prefix("is_").is_some_and(|kind| kind == place.kind())
}

pub(super) fn is_method_name(name: &str) -> bool {
    METHODS.contains(&name)
}

pub(super) fn is_method(target: &Bound<'_, PyAny>) -> bool {
    METHODS.contains(&&*own_name(target))
}

/// What guards compare: metadata, and whether inference mode has made it. Operations refuse such tensors where they take others.
pub(super) fn guarded<'py>(tensor: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
    let _quiet = Quiet::about([tensor]);
    let of_inference = tensor.call_method0(name!("is_inference"))?;
    let parts: Vec<_> = metadata(tensor)?.iter().chain([of_inference]).collect();
    PyTuple::new(tensor.py(), parts)
}

/// What tells kinds of tensors apart, but for their contents. Where the question whether it is a leaf would make its history, nobody asks: it is like no tensor that is recorded.
pub(super) fn metadata<'py>(tensor: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
    let _quiet = Quiet::about([tensor]);
    let read = |name: &str| tensor.getattr(name);
    let stride = tensor.call_method0(name!("stride"))?;
    let conjugate = tensor.call_method0(name!("is_conj"))?;
    let negative = tensor.call_method0(name!("is_neg"))?;
    let parts = [
        read("dtype")?,
        read("shape")?,
        stride,
        read("requires_grad")?,
        read("device")?,
        read("layout")?,
        conjugate,
        negative,
        match has_history_when_asked(tensor) {
            Some(true) => tensor.py().None().into_bound(tensor.py()),
            _ => read("is_leaf")?,
        },
    ];
    PyTuple::new(tensor.py(), parts)
}
