//! Looks at tensors without running the `__torch_function__` of their class.
use crate::ffi::libtorch::ModeWords;
use crate::names::name;
use pyo3::prelude::*;

/// While it lives, no class and no mode takes over calls of PyTorch's functions in this thread.
pub(in crate::domain::torch) struct Quiet<'py> {
    set: Bound<'py, PyAny>,
    before: Bound<'py, PyAny>,
}

impl<'py> Quiet<'py> {
    /// Where the class of one of these objects, or a mode, may take over calls; `None`: none does.
    pub(in crate::domain::torch) fn about<'a>(objects: impl IntoIterator<Item = &'a Bound<'py, PyAny>>) -> Option<Self>
    where
        'py: 'a,
    {
        let noisy = objects.into_iter().find(|object| is_noisy(object) || modes_see(object.py()))?;
        Self::new(noisy.py()).ok()
    }

    fn new(py: Python<'py>) -> PyResult<Self> {
        let native = crate::ffi::modules::import(py, name!("torch._C"))?;
        let set = native.getattr(name!("_set_torch_function_state"))?;
        let before = native.getattr(name!("_get_torch_function_state"))?.call0()?;
        set.call1((native.getattr(name!("_TorchFunctionState"))?.getattr(name!("ALL_DISABLED"))?,))?;
        Ok(Self { set, before })
    }
}

impl Drop for Quiet<'_> {
    fn drop(&mut self) {
        // It raises for nothing that it was told before.
        drop(self.set.call1((&self.before,)));
    }
}

/// Whether modes see functions of PyTorch being called.
fn modes_see(py: Python<'_>) -> bool {
    ModeWords::see_functions(py)
}

/// Whether the object is of a class that is derived from `Tensor` in Python.
fn is_noisy(object: &Bound<'_, PyAny>) -> bool {
    let class = object.get_type();
    !crate::ffi::types::is_c_type(&class)
        && crate::ffi::modules::import(object.py(), name!("torch"))
            .and_then(|torch| torch.getattr(name!("Tensor")))
            .is_ok_and(|tensor| !class.is(&tensor))
}
