//! Whether the thread runs what operations on wrappers consist of, which PyTorch runs below gradients.
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::PyModule;

/// Whether the thread runs what operations on wrappers consist of: no gradients follow that.
pub(in crate::domain::torch) fn is_below_gradients(module: &Bound<'_, PyModule>) -> PyResult<bool> {
    let (excludes, key) = question_below_gradients(module)?;
    excludes.bind(module.py()).call1((key,))?.is_truthy()
}

/// The function that says so, and what it is told.
pub(in crate::domain::torch) fn question_below_gradients(
    module: &Bound<'_, PyModule>,
) -> PyResult<(Py<PyAny>, Py<PyAny>)> {
    let native = module.getattr(name!("_C"))?;
    let key = native.getattr(name!("DispatchKey"))?.getattr(name!("AutogradFunctionality"))?;
    Ok((native.getattr(name!("_dispatch_tls_is_dispatch_key_excluded"))?.unbind(), key.unbind()))
}
