//! The device that tensors of the graph are on.
use crate::ffi::types;
use pyo3::prelude::*;
use pyo3::types::PyString;

/// Whether it is a `torch.device`.
pub(super) fn is_device(object: &Bound<'_, PyAny>) -> bool {
    types::c_name(&object.get_type()) == "torch.device"
}

/// Whether an object names the device that tensors of the graph are on.
pub(super) fn is_here(device: &Bound<'_, PyAny>) -> bool {
    let names = device.is_exact_instance_of::<PyString>() || is_device(device);
    names && device.str().is_ok_and(|text| text == "cpu")
}
