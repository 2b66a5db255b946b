//! What PyTorch calls Python for while it holds the lock of a tensor's history.
use crate::ffi::modules;
use crate::names::name;
use pyo3::prelude::*;

/// Whether a class or a mode gets this object because PyTorch sets the hooks of a tensor: it does so where it makes a view's history
/// anew (`VariableHooks::grad_fn`), and whoever asks that tensor for `grad_fn` or `is_leaf` meanwhile waits for the same lock.
pub(in crate::domain::torch) fn sets_backward_hooks(handed: &Bound<'_, PyAny>) -> bool {
    let attribute = || {
        let descriptor = handed.getattr_opt(name!("__self__")).ok()??;
        let class = modules::import(handed.py(), name!("torch._C")).ok()?.getattr(name!("TensorBase")).ok()?;
        Some(descriptor.is(&class.getattr(name!("_backward_hooks")).ok()?))
    };
    attribute().unwrap_or(false)
}
