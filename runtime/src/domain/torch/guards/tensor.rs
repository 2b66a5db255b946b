//! Guards on tensors.
use super::super::metadata::guarded;
use super::super::symbols::open_sizes;
use crate::domain::torch::examples::place::Place;
use crate::ffi::libtorch::Quiet;
use crate::ffi::libtorch::{TensorWords, has_history_when_asked};
use crate::guard::DomainCheck;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};
use std::sync::OnceLock;

/// What the state of the condition is written as.
pub(in crate::domain::torch) const TENSOR: &str = "tensor";

/// Exact class, dtype, shape, strides, `requires_grad`, whether it is a leaf, the device; a strided tensor.
#[derive(Debug)]
pub(in crate::domain::torch) struct TensorCheck {
    class: Py<PyType>,
    metadata: Py<PyTuple>,
    text: String,
    /// The words of a tensor like this one, once one was found; `None`: PyTorch does not tell.
    words: OnceLock<Option<TensorWords>>,
}

impl TensorCheck {
    /// For tensors like `example`; `None` where such tensors are not recorded.
    pub(in crate::domain::torch) fn new(example: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        let strided = example.getattr(name!("layout"))?.str()?.to_str()? == "torch.strided";
        let is_somewhere = Place::named(&example.getattr(name!("device"))?).is_some();
        let is_elsewhere = || PyResult::Ok(!example.getattr(name!("device"))?.str()?.to_str()?.eq("cpu"));
        let quantised = example.getattr(name!("is_quantized"))?.is_truthy()?;
        let changes_when_asked = has_history_when_asked(example) == Some(true);
        if changes_when_asked || !strided || !is_somewhere || quantised && is_elsewhere()? {
            return Ok(None);
        }
        Self::with(example.get_type().unbind(), guarded(example)?).map(Some)
    }

    /// From its state: class, metadata.
    pub(in crate::domain::torch) fn of_state(state: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (class, metadata) = state.extract::<(Bound<'_, PyType>, Bound<'_, PyTuple>)>()?;
        Self::with(class.unbind(), metadata)
    }

    fn with(class: Py<PyType>, metadata: Bound<'_, PyTuple>) -> PyResult<Self> {
        let text = format!(
            "(dtype, shape, strides, requires_grad, device, layout, is_conj, is_neg, is_leaf, is_inference) == {}",
            metadata.repr()?
        );
        Ok(Self { class, metadata: metadata.unbind(), text, words: OnceLock::new() })
    }

    fn agrees(&self, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        guarded(value)?.eq(self.metadata.bind(value.py()))
    }
}

impl DomainCheck for TensorCheck {
    fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        if let Some(Some(words)) = self.words.get() {
            return words.are_of(value);
        }
        if !value.get_type().is(&self.class) {
            return false;
        }
        let _quiet = Quiet::about([value]);
        let agrees = self.agrees(value).unwrap_or(false);
        if agrees {
            self.words.get_or_init(|| TensorWords::of(value));
        }
        agrees
    }

    fn class(&self) -> Option<&Py<PyType>> {
        Some(&self.class)
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

    fn wanted(&self) -> Option<(u64, u64)> {
        let words = self.words.get()?.as_ref()?;
        Some((words.kind(), words.number(true)))
    }

    fn number(&self, value: &Bound<'_, PyAny>) -> Option<u64> {
        self.words.get()?.as_ref()?.number_of(value, true)
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
