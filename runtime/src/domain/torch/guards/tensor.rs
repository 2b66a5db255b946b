//! Guards on tensors.
use super::super::metadata::metadata;
use super::super::symbols::open_sizes;
use crate::domain::torch::quiet::Quiet;
use crate::guard::DomainCheck;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};
use std::sync::OnceLock;

/// Where metadata has whether a tensor is a leaf.
const LEAF: usize = 8;

/// What the state of the condition is written as.
pub(in crate::domain::torch) const TENSOR: &str = "tensor";

/// Exact class, dtype, shape, strides, `requires_grad`, whether it is a leaf; a strided tensor on the CPU.
#[derive(Debug)]
pub(in crate::domain::torch) struct TensorCheck {
    class: Py<PyType>,
    metadata: Py<PyTuple>,
    text: String,
    /// Asks PyTorch's own check about a tensor like this one, once one was found; `None`: there is no such check.
    quick: OnceLock<Option<Py<PyAny>>>,
}

impl TensorCheck {
    /// For tensors like `example`; `None` where such tensors are not recorded.
    pub(in crate::domain::torch) fn new(example: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        let strided = example.getattr(name!("layout"))?.str()?.to_str()? == "torch.strided";
        let cpu = example.getattr(name!("device"))?.getattr(name!("type"))?.str()?.to_str()? == "cpu";
        if !strided || !cpu || example.getattr(name!("is_quantized"))?.is_truthy()? {
            return Ok(None);
        }
        Self::with(example.get_type().unbind(), metadata(example)?).map(Some)
    }

    /// From its state: class, metadata.
    pub(in crate::domain::torch) fn of_state(state: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (class, metadata) = state.extract::<(Bound<'_, PyType>, Bound<'_, PyTuple>)>()?;
        Self::with(class.unbind(), metadata)
    }

    fn with(class: Py<PyType>, metadata: Bound<'_, PyTuple>) -> PyResult<Self> {
        let text = format!(
            "(dtype, shape, strides, requires_grad, device, layout, is_conj, is_neg, is_leaf) == {}",
            metadata.repr()?
        );
        Ok(Self { class, metadata: metadata.unbind(), text, quick: OnceLock::new() })
    }

    fn agrees(&self, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        metadata(value)?.eq(self.metadata.bind(value.py()))
    }

    /// Whether PyTorch's own check says so, in one call. It knows types, sizes, strides, and by the keys of dispatch the device, layout
    /// and views that conjugate or negate, but not leaves. Where it does not say so, other state of the thread may be the cause.
    fn agrees_quickly(&self, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Some(Some(quick)) = self.quick.get() else { return Ok(false) };
        let py = value.py();
        let leaf = self.metadata.bind(py).get_borrowed_item(LEAF)?;
        Ok(quick.bind(py).call1((value,))?.is_truthy()? && value.getattr(name!("is_leaf"))?.is(&*leaf))
    }
}

impl DomainCheck for TensorCheck {
    fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        if !value.get_type().is(&self.class) {
            return false;
        }
        let _quiet = Quiet::about([value]);
        if self.agrees_quickly(value).unwrap_or(false) {
            return true;
        }
        let agrees = self.agrees(value).unwrap_or(false);
        if agrees {
            self.quick.get_or_init(|| quick_check(value).ok());
        }
        agrees
    }

    fn same(&self, other: &dyn DomainCheck, py: Python<'_>) -> bool {
        let other: &dyn std::any::Any = other;
        other.downcast_ref::<Self>().is_some_and(|other| {
            self.class.is(&other.class) && self.metadata.bind(py).eq(other.metadata.bind(py)).unwrap_or(false)
        })
    }

    fn state<'py>(&self, py: Python<'py>) -> Option<(&'static str, Bound<'py, PyAny>)> {
        Some((TENSOR, (self.class.bind(py), self.metadata.bind(py)).into_pyobject(py).ok()?.into_any()))
    }

    fn other_sizes(&self, value: &Bound<'_, PyAny>) -> Vec<usize> {
        match value.get_type().is(&self.class) {
            true if Quiet::about([value]).is_some() => Vec::new(),
            true => open_sizes::other_sizes(value, self.metadata.bind(value.py())).unwrap_or_default(),
            false => Vec::new(),
        }
    }

    fn now(&self, value: &Bound<'_, PyAny>) -> Option<String> {
        if !value.get_type().is(&self.class) {
            return None;
        }
        let _quiet = Quiet::about([value]);
        Self::new(value).ok().flatten().map(|now| now.text)
    }

    fn describe(&self) -> String {
        self.text.clone()
    }
}

/// PyTorch's own check for tensors like this one.
fn quick_check(example: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let py = example.py();
    let native = py.import(name!("torch._C"))?;
    let guards = native.getattr(name!("_dynamo"))?.getattr(name!("guards"))?;
    let unset = PyDict::new(py);
    unset.set_item(name!("dynamic_dims_sizes"), py.None())?;
    unset.set_item(name!("dynamic_dims_strides"), py.None())?;
    let made = guards.getattr(name!("TensorGuards"))?.call((example,), Some(&unset))?;
    Ok(made.getattr(name!("check"))?.unbind())
}
