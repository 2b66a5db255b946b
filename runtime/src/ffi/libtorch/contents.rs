//! The number that a tensor without dimensions holds, and where a tensor lies.
use super::functions::Functions;
use super::tensor::Tensor;
use crate::ffi::modules;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// PyTorch's numbers of the types of floats. `c10::ScalarType`.
const SINGLE: i32 = 6;
const DOUBLE: i32 = 7;

/// PyTorch's numbers of the types of integers that indices have.
const INT: i32 = 3;
const LONG: i32 = 4;

/// The handle of a plain tensor, or of a parameter; `None`: it is none, or PyTorch does not say.
fn plain<'a>(value: &Bound<'_, PyAny>, parameters: bool) -> Option<Tensor<'a>> {
    static CLASSES: PyOnceLock<Option<[Py<PyAny>; 2]>> = PyOnceLock::new();
    let py = value.py();
    let functions = Functions::get(py)?;
    let classes = CLASSES.get(py).or_else(|| {
        let torch = modules::imported(intern!(py, "torch"))?;
        let class = torch.getattr(intern!(py, "Tensor")).ok()?;
        let parameter = torch.getattr(intern!(py, "nn")).and_then(|nn| nn.getattr(intern!(py, "Parameter"))).ok()?;
        let is_plain = value.get_type().is(&class) || value.get_type().is(&parameter);
        let keeps_tensor = is_plain && Tensor::found(functions, value).is_some();
        keeps_tensor.then(|| CLASSES.get_or_init(py, || Some([class.unbind(), parameter.unbind()])))
    })?;
    let [class, parameter] = classes.as_ref()?;
    let found = value.get_type_ptr().cast();
    if found != class.as_ptr() && !(parameters && found == parameter.as_ptr()) {
        return None;
    }
    // SAFETY: objects of the class keep their tensors there, as one of them did; those of a class derived from it in Python do, too.
    unsafe { Tensor::of(functions, value) }
}

/// Where the elements of a plain tensor, or of a parameter, lie; `None`: it is none, or PyTorch does not say.
#[must_use]
pub fn address(value: &Bound<'_, PyAny>) -> Option<usize> {
    let tensor = plain(value, true)?;
    // The elements lie with strides.
    let [_, _, _, 0] = tensor.kinds()? else { return None };
    tensor.get(tensor.functions.data_ptr)
}

/// The float that a plain tensor without dimensions holds in the memory of the CPU; `None`: it is none, or PyTorch does not say.
#[must_use]
pub fn contents(value: &Bound<'_, PyAny>) -> Option<f64> {
    let tensor = plain(value, false)?;
    let functions = tensor.functions;
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

/// Whether all integers are allowed that a plain tensor holds in the memory of the CPU; `None`: it holds none, or PyTorch does not say.
#[must_use]
pub fn all_integers(value: &Bound<'_, PyAny>, is_allowed: &dyn Fn(i64) -> bool) -> Option<bool> {
    let tensor = plain(value, false)?;
    let [kind @ (INT | LONG), 0, _, 0] = tensor.kinds()? else { return None };
    // SAFETY: the handle is that of a live tensor, which has as many dimensions.
    let (sizes, strides) = unsafe { tensor.layout(tensor.dim()?) }?;
    if sizes.contains(&0) {
        return Some(true);
    }
    let address = tensor.get(tensor.functions.data_ptr).filter(|address| *address != 0)?;
    let mut index = vec![0; sizes.len()];
    loop {
        let offset: i64 = index.iter().zip(strides).map(|(at, stride)| at * stride).sum();
        let number = match kind {
            // SAFETY: sizes and strides say that an element lies there, which the tensor keeps; nothing changes it while it is read.
            INT => i64::from(unsafe { *(address as *const i32).offset(offset as isize) }),
            // SAFETY: as above.
            _ => unsafe { *(address as *const i64).offset(offset as isize) },
        };
        if !is_allowed(number) {
            return Some(false);
        }
        let Some(at) = (0..sizes.len()).rev().find(|at| index[*at] + 1 < sizes[*at]) else { return Some(true) };
        index[at] += 1;
        index[at + 1..].fill(0);
    }
}
