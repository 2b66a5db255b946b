//! Warnings that PyTorch gives once in a process: while it answers a trace it repeats them, and so uses none of them up.
use crate::ffi::libtorch::modes::repeat_warnings;
use crate::names::name;
use pyo3::prelude::*;

/// Reads and sets whether PyTorch repeats what it warns of once.
#[derive(Debug)]
pub(in crate::domain::torch) struct RepeatedWarnings {
    get: Py<PyAny>,
    set: Py<PyAny>,
}

impl RepeatedWarnings {
    /// `native`: `torch._C`.
    pub(in crate::domain::torch) fn new(native: &Bound<'_, PyAny>) -> PyResult<Self> {
        let [get, set] = [name!("_get_warnAlways"), name!("_set_warnAlways")].map(|name| native.getattr(name));
        Ok(Self { get: get?.unbind(), set: set?.unbind() })
    }

    /// Does something while PyTorch repeats its warnings.
    pub(in crate::domain::torch) fn during<T>(&self, py: Python<'_>, act: impl FnOnce() -> T) -> T {
        // Each operation does it.
        if let Some(before) = repeat_warnings(py, true) {
            let done = act();
            repeat_warnings(py, before);
            return done;
        }
        let before = self.get.bind(py).call0();
        // Neither raises an exception.
        drop(self.set.bind(py).call1((true,)));
        let done = act();
        drop(before.and_then(|before| self.set.bind(py).call1((before,))));
        done
    }
}
