//! Which tensors lie in the same storages: what changes one of them changes the versions of all, and gradients are refused to those that were
//! kept before.
use crate::ffi::libtorch::{Quiet, TensorPlaces};
use crate::guard::DomainCheck;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;
use rustc_hash::FxHashMap;

/// What the state is written as.
pub(super) const STORAGES: &str = "storages";

/// No input that a graph changes lies in the storage of another one.
pub(in crate::domain::torch) struct StorageCheck {
    /// Whether the graph changes the input.
    changed: Vec<bool>,
    /// Where objects like the inputs keep their tensors, once it was looked for.
    places: PyOnceLock<Option<TensorPlaces>>,
}

impl std::fmt::Debug for StorageCheck {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_tuple("StorageCheck").field(&self.changed).finish()
    }
}

impl StorageCheck {
    /// `changed`: whether the graph changes the input.
    pub(in crate::domain::torch) fn new(changed: Vec<bool>) -> Self {
        Self { changed, places: PyOnceLock::new() }
    }

    /// From its state: which inputs change.
    pub(super) fn of_state(state: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self::new(state.extract()?))
    }

    /// The storages of the inputs, as numbers.
    fn storages(&self, inputs: &Bound<'_, PyTuple>) -> PyResult<Vec<usize>> {
        let quiet = || Quiet::about(&inputs.iter().collect::<Vec<_>>());
        let find = || {
            let _quiet = quiet();
            TensorPlaces::of(inputs)
        };
        let places = self.places.get_or_init(inputs.py(), find).as_ref();
        if let Some(storages) = places.and_then(|places| places.storages(inputs)) {
            return Ok(storages);
        }
        let _quiet = quiet();
        inputs.iter().map(|input| storage(&input)).collect()
    }

    fn are_apart(&self, inputs: &Bound<'_, PyTuple>) -> PyResult<bool> {
        let mut changes: FxHashMap<usize, (bool, usize)> = FxHashMap::default();
        for (storage, changed) in self.storages(inputs)?.into_iter().zip(&self.changed) {
            let (is_changed, count) = changes.entry(storage).or_default();
            *is_changed |= changed;
            *count += 1;
        }
        Ok(changes.values().all(|(is_changed, count)| !is_changed || *count == 1))
    }
}

fn storage(tensor: &Bound<'_, PyAny>) -> PyResult<usize> {
    tensor.call_method0(name!("untyped_storage"))?.getattr(name!("_cdata"))?.extract()
}

impl DomainCheck for StorageCheck {
    fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        let inputs = value.cast::<PyTuple>().ok().filter(|inputs| inputs.len() == self.changed.len());
        inputs.is_some_and(|inputs| self.are_apart(inputs).unwrap_or(false))
    }

    fn same(&self, other: &dyn DomainCheck, _py: Python<'_>) -> bool {
        let other = (other as &dyn std::any::Any).downcast_ref::<Self>();
        other.is_some_and(|other| self.changed == other.changed)
    }

    fn now(&self, _value: &Bound<'_, PyAny>) -> Option<String> {
        Some("some share a storage".to_owned())
    }

    fn state<'py>(&self, py: Python<'py>) -> Option<(&'static str, Bound<'py, PyAny>)> {
        Some((STORAGES, PyTuple::new(py, &self.changed).ok()?.into_any()))
    }

    fn describe(&self) -> String {
        "lie in no storage with what the graph changes".to_owned()
    }
}
