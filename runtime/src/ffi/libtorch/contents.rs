//! The number that a tensor without dimensions holds.
use super::functions::Functions;
use super::tensor::Tensor;
use crate::ffi::modules;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// PyTorch's numbers of the types of floats. `c10::ScalarType`.
const SINGLE: i32 = 6;
const DOUBLE: i32 = 7;

/// The float that a plain tensor without dimensions holds in the memory of the CPU; `None`: it is none, or PyTorch does not say.
#[must_use]
pub fn contents(value: &Bound<'_, PyAny>) -> Option<f64> {
    static CLASS: PyOnceLock<Option<Py<PyAny>>> = PyOnceLock::new();
    let py = value.py();
    let functions = Functions::get(py)?;
    let class = CLASS.get(py).or_else(|| {
        let class = modules::imported(intern!(py, "torch"))?.getattr(intern!(py, "Tensor")).ok()?;
        let keeps_tensor = value.get_type().is(&class) && Tensor::found(functions, value).is_some();
        keeps_tensor.then(|| CLASS.get_or_init(py, || Some(class.unbind())))
    })?;
    if value.get_type_ptr().cast() != class.as_ref()?.as_ptr() {
        return None;
    }
    // SAFETY: objects of the class keep their tensors there, as one of them did.
    let tensor = unsafe { Tensor::of(functions, value) }?;
    // The first number is the type; the device is the CPU, and the elements lie with strides.
    let [kind, 0, _, 0] = tensor.kinds()? else { return None };
    // SAFETY: the handle is that of a live tensor.
    if tensor.dim()? != 0 || unsafe { (functions.is_neg)(tensor.handle) } {
        return None;
    }
    let address = tensor.get(functions.data_ptr).filter(|address| *address != 0)?;
    match kind {
        // SAFETY: the only element lies there, which the tensor keeps; nothing changes it while it is read.
        SINGLE => Some(f64::from(unsafe { *(address as *const f32) })),
        // SAFETY: as above.
        DOUBLE => Some(unsafe { *(address as *const f64) }),
        _ => None,
    }
}
