//! Which tensors have a base in common: a change that one of them follows to gradients is one of all.
use crate::domain::torch::bases::base_outside;
use crate::guard::DomainCheck;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rustc_hash::{FxHashMap, FxHashSet};

/// What the state is written as.
pub(in crate::domain::torch) const KIN: &str = "kin";

/// None of the last tensors has the base of one of the first, unless it is that one.
#[derive(Debug)]
pub(in crate::domain::torch) struct KinCheck {
    /// For each of the first whether it is known to be its own base: another guard says which object it is.
    own: Box<[bool]>,
}

impl KinCheck {
    /// For tensors that are changed; of each whether a guard says which one it is.
    pub(in crate::domain::torch) fn new(changed: &[(Bound<'_, PyAny>, bool)]) -> Self {
        Self { own: changed.iter().map(|(tensor, is_fixed)| *is_fixed && base_outside(tensor).is(tensor)).collect() }
    }

    /// From its state.
    pub(in crate::domain::torch) fn of_state(state: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self { own: state.extract::<Vec<bool>>()?.into() })
    }
}

/// What a tensor is a view of; itself, where it is known to be none.
fn base_of<'py>((tensor, own): (&Bound<'py, PyAny>, &bool)) -> Bound<'py, PyAny> {
    if *own { tensor.clone() } else { base_outside(tensor) }
}

impl DomainCheck for KinCheck {
    fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        let Ok(tensors) = value.cast::<PyTuple>() else { return false };
        let tensors: Vec<_> = tensors.iter().collect();
        let Some((changed, others)) = tensors.split_at_checked(self.own.len()) else { return false };
        let address = |tensor: &Bound<'_, PyAny>| tensor.as_ptr() as usize;
        // They live as long as they are compared.
        let bases: FxHashMap<_, _> =
            changed.iter().zip(&self.own).map(base_of).map(|base| (address(&base), base)).collect();
        let known: FxHashSet<_> = changed.iter().map(address).collect();
        others
            .iter()
            .all(|other| known.contains(&address(other)) || !bases.contains_key(&address(&base_outside(other))))
    }

    fn same(&self, other: &dyn DomainCheck, _py: Python<'_>) -> bool {
        let other = (other as &dyn std::any::Any).downcast_ref::<Self>();
        other.is_some_and(|other| other.own == self.own)
    }

    fn state<'py>(&self, py: Python<'py>) -> Option<(&'static str, Bound<'py, PyAny>)> {
        Some((KIN, PyTuple::new(py, &self.own).ok()?.into_any()))
    }

    fn describe(&self) -> String {
        "are no views of one tensor with what is another leaf from then on".to_owned()
    }
}
