//! Tensors without contents, with the metadata of others.
use crate::ffi::libtorch::Quiet;
use crate::names::name;
use pyo3::exceptions::PyNotImplementedError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyModule};

/// A tensor on another device with the metadata of `example`; no leaf of a graph of gradients where that is none.
pub(in crate::domain::torch) fn empty_like<'py>(
    torch: &Bound<'py, PyModule>,
    example: &Bound<'py, PyAny>,
    device: &str,
) -> PyResult<Bound<'py, PyAny>> {
    made_like(torch, example, device, |shape, strides, named| {
        named.set_item(name!("requires_grad"), example.getattr(name!("requires_grad"))?)?;
        torch.getattr(name!("empty_strided"))?.call((shape, strides), Some(named))
    })
}

/// The same, full of zeros.
pub(in crate::domain::torch) fn zeros_like<'py>(
    torch: &Bound<'py, PyModule>,
    example: &Bound<'py, PyAny>,
    device: &str,
) -> PyResult<Bound<'py, PyAny>> {
    made_like(torch, example, device, |shape, strides, named| {
        let last: usize = shape.iter().zip(&strides).map(|(size, stride)| size.saturating_sub(1) * stride).sum();
        let memory = torch.getattr(name!("zeros"))?.call((last + 1,), Some(named))?;
        let made = memory.call_method1(name!("as_strided"), (shape, strides))?;
        made.call_method1(name!("requires_grad_"), (example.getattr(name!("requires_grad"))?,))
    })
}

fn made_like<'py>(
    torch: &Bound<'py, PyModule>,
    example: &Bound<'py, PyAny>,
    device: &str,
    make: impl FnOnce(Vec<usize>, Vec<usize>, &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let _quiet = Quiet::about([example]);
    let strided = example.getattr(name!("layout"))?.is(&torch.getattr(name!("strided"))?);
    if !strided || example.getattr(name!("is_quantized"))?.is_truthy()? {
        return Err(PyNotImplementedError::new_err("only plain, strided tensors have a tensor to stand for them"));
    }
    let named = PyDict::new(torch.py());
    named.set_item(name!("dtype"), example.getattr(name!("dtype"))?)?;
    named.set_item(name!("device"), device)?;
    let (shape, strides) = (example.getattr(name!("shape"))?, example.call_method0(name!("stride"))?);
    let made = make(shape.extract()?, strides.extract()?, &named)?;
    match example.getattr(name!("is_leaf"))?.is_truthy()? {
        true => Ok(made),
        // The modes of the trace do not decide what it is.
        false => with_grad(torch, true, || made.call_method0(name!("clone"))),
    }
}

/// Does something as where inference mode is off: what it makes has views that require gradients in that mode, too.
pub(in crate::domain::torch) fn outside_inference<'py, T>(
    torch: &Bound<'py, PyModule>,
    act: impl FnOnce() -> PyResult<T>,
) -> PyResult<T> {
    if !torch.call_method0(name!("is_inference_mode_enabled"))?.is_truthy()? {
        return act();
    }
    let off = torch.getattr(name!("_C"))?.getattr(name!("_InferenceMode"))?.call1((false,))?;
    off.call_method0(name!("__enter__"))?;
    let done = act();
    let none = torch.py().None();
    off.call_method1(name!("__exit__"), (&none, &none, &none))?;
    done
}

/// Does something where gradients are kept, or are not, and puts back what was.
pub(in crate::domain::torch) fn with_grad<'py, T>(
    torch: &Bound<'py, PyModule>,
    enabled: bool,
    act: impl FnOnce() -> PyResult<T>,
) -> PyResult<T> {
    let before = torch.getattr(name!("is_grad_enabled"))?.call0()?;
    let set = torch.getattr(name!("_C"))?.getattr(name!("_set_grad_enabled"))?;
    set.call1((enabled,))?;
    let done = act();
    set.call1((before,))?;
    done
}
