//! Tensors without contents, with the metadata of others.
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
    let strided = example.getattr(name!("layout"))?.is(&torch.getattr(name!("strided"))?);
    if !strided || example.getattr(name!("is_quantized"))?.is_truthy()? {
        return Err(PyNotImplementedError::new_err("only plain, strided tensors have a tensor to stand for them"));
    }
    let named = PyDict::new(torch.py());
    for name in [name!("dtype"), name!("requires_grad")] {
        named.set_item(name, example.getattr(name)?)?;
    }
    named.set_item(name!("device"), device)?;
    let args = (example.getattr(name!("shape"))?, example.call_method0(name!("stride"))?);
    let made = torch.getattr(name!("empty_strided"))?.call(args, Some(&named))?;
    match example.getattr(name!("is_leaf"))?.is_truthy()? {
        true => Ok(made),
        false => made.call_method0(name!("clone")),
    }
}
