//! What tensors say of themselves, asked so that no class and no mode hears of it.
use crate::ffi::libtorch::Quiet;
use crate::names::{Name, name};
use pyo3::prelude::*;

/// The truth of an attribute.
pub(in crate::domain::torch) fn says(example: &Bound<'_, PyAny>, attribute: &'static Name) -> PyResult<bool> {
    let _quiet = Quiet::about([example]);
    example.getattr(attribute)?.is_truthy()
}

/// Whether it requires gradients.
pub(in crate::domain::torch) fn requires_gradients(example: &Bound<'_, PyAny>) -> bool {
    says(example, name!("requires_grad")).unwrap_or(false)
}

/// Whether what is of its type can require gradients.
pub(in crate::domain::torch) fn may_require_gradients(example: &Bound<'_, PyAny>) -> bool {
    let _quiet = Quiet::about([example]);
    let dtype = || example.getattr(name!("dtype"));
    let can =
        dtype().and_then(|dtype| Ok(says(&dtype, name!("is_floating_point"))? || says(&dtype, name!("is_complex"))?));
    can.unwrap_or(true)
}
