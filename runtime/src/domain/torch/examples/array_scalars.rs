//! Scalars of numpy's among the operands of tensors.
use crate::ffi::types;
use crate::names::name;
use pyo3::prelude::*;

/// Whether what stands for a value is a scalar of numpy's.
pub(in crate::domain::torch) fn is_scalar(example: &Bound<'_, PyAny>) -> bool {
    let class = example.get_type();
    types::is_named(&class, "numpy.")
        && crate::ffi::modules::import(example.py(), "numpy")
            .and_then(|numpy| numpy.getattr(name!("generic")))
            .is_ok_and(|generic| example.is_instance(&generic).unwrap_or(false))
}
