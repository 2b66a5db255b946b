//! The modes of the thread that see functions of PyTorch being called.
use crate::domain::torch::examples::place::is_cpu;
use crate::names::name;
use pyo3::prelude::*;

/// The modes of the thread that see functions of PyTorch being called.
#[derive(Debug)]
pub(in crate::domain::torch) struct FunctionModes {
    /// Gives their number.
    count: Py<PyAny>,
    /// Gives one of them.
    at: Py<PyAny>,
}

impl FunctionModes {
    /// Of this `torch._C`.
    pub(in crate::domain::torch) fn new(native: &Bound<'_, PyAny>) -> PyResult<Self> {
        let count = native.getattr(name!("_len_torch_function_stack"))?.unbind();
        Ok(Self { count, at: native.getattr(name!("_get_function_stack_at"))?.unbind() })
    }

    /// Their number.
    pub(in crate::domain::torch) fn count<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.count.bind(py).call0()
    }

    /// Whether each of them says nothing but that new tensors are on the CPU.
    pub(in crate::domain::torch) fn are_plain(&self, py: Python<'_>) -> PyResult<bool> {
        let count: usize = self.count(py)?.extract()?;
        if count == 0 {
            return Ok(true);
        }
        let class = py.import("torch.utils._device")?.getattr(name!("DeviceContext"))?;
        for index in 0..count {
            let mode = self.at.bind(py).call1((index,))?;
            if !mode.get_type().is(&class) || !is_cpu(&mode.getattr(name!("device"))?) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
