//! Tensors without contents, with the metadata of others.
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyModule};

/// A tensor on another device with the metadata of `example`; no leaf of a graph of gradients where that is none.
pub(super) fn empty_like<'py>(
    torch: &Bound<'py, PyModule>,
    example: &Bound<'py, PyAny>,
    device: &str,
) -> PyResult<Bound<'py, PyAny>> {
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
