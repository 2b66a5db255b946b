//! Whether the thread runs what operations on wrappers consist of, which PyTorch runs below gradients: no gradients follow that.
use crate::ffi::libtorch::modes::passes_over;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::PyModule;

/// What tells whether the thread does.
#[derive(Debug)]
pub(in crate::domain::torch) struct BelowGradients {
    /// The function that says which kernels the thread passes over, and the kernels of gradients, as it is told and as a number.
    excludes: Py<PyAny>,
    key: Py<PyAny>,
    kinds: u64,
}

impl BelowGradients {
    pub(in crate::domain::torch) fn new(module: &Bound<'_, PyModule>) -> PyResult<Self> {
        let native = module.getattr(name!("_C"))?;
        let key = native.getattr(name!("DispatchKey"))?.getattr(name!("AutogradFunctionality"))?;
        let kinds = native.getattr(name!("DispatchKeySet"))?.call1((&key,))?.call_method0(name!("raw_repr"))?;
        let excludes = native.getattr(name!("_dispatch_tls_is_dispatch_key_excluded"))?.unbind();
        Ok(Self { excludes, key: key.unbind(), kinds: kinds.extract()? })
    }

    /// Whether it does now.
    pub(in crate::domain::torch) fn is_now(&self, py: Python<'_>) -> PyResult<bool> {
        match passes_over(py, self.kinds) {
            Some(is_below) => Ok(is_below),
            None => self.excludes.bind(py).call1((&self.key,))?.is_truthy(),
        }
    }
}
