//! Looks at tensors without running the `__torch_function__` of their class.
use super::ModeWords;
use crate::ffi::types;
use crate::names::{interned, name};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// While it lives, no class and no mode takes over calls of PyTorch's functions in this thread.
pub struct Quiet<'py> {
    set: Bound<'py, PyAny>,
    before: Bound<'py, PyAny>,
}

impl<'py> Quiet<'py> {
    /// Where the class of one of these objects, or a mode, may take over calls; `None`: none does.
    pub fn about<'a>(objects: impl IntoIterator<Item = &'a Bound<'py, PyAny>>) -> Option<Self>
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

/// Whether the class of the object takes over calls of PyTorch's functions, or something derived from `Tensor` in Python does.
fn is_noisy(object: &Bound<'_, PyAny>) -> bool {
    static KNOWN: PyOnceLock<[Py<PyAny>; 2]> = PyOnceLock::new();
    let (class, py) = (object.get_type(), object.py());
    if types::is_c_type(&class) {
        return false;
    }
    let known = KNOWN.get_or_try_init(py, || {
        let torch = crate::ffi::modules::import(py, name!("torch"))?;
        let off = torch.getattr(name!("_C"))?.getattr(name!("_disabled_torch_function_impl"))?;
        Ok::<_, PyErr>([torch.getattr(name!("Tensor"))?.unbind(), off.unbind()])
    });
    known.is_ok_and(|[tensor, off]| {
        !class.is(tensor)
            && !types::lookup(&class, &interned(py, "__torch_function__")).is_some_and(|hook| hook.is(off))
    })
}
