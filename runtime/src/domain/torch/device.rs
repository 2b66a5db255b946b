//! The device that tensors of the graph are on.
use crate::ffi::types;
use pyo3::prelude::*;
use pyo3::types::PyString;

/// Whether an object names the device that tensors of the graph are on.
pub(super) fn is_here(device: &Bound<'_, PyAny>) -> bool {
    let names = device.is_exact_instance_of::<PyString>() || types::c_name(&device.get_type()) == "torch.device";
    names && device.str().is_ok_and(|text| text == "cpu")
}
