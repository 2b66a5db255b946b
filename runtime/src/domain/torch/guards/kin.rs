//! Which tensors have a base in common: a change that one of them follows to gradients is one of all.
use crate::domain::torch::bases::base_outside;
use crate::guard::DomainCheck;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// What the state is written as.
pub(in crate::domain::torch) const KIN: &str = "kin";

/// None of the last tensors has the base of one of the first, as many as this says, unless it is that one.
#[derive(Debug)]
pub(in crate::domain::torch) struct KinCheck {
    pub(in crate::domain::torch) changed: usize,
}

impl DomainCheck for KinCheck {
    fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        let Ok(tensors) = value.cast::<PyTuple>() else { return false };
        let tensors: Vec<_> = tensors.iter().collect();
        let Some((changed, others)) = tensors.split_at_checked(self.changed) else { return false };
        changed.iter().all(|changed| {
            let base = base_outside(changed);
            others.iter().all(|other| other.is(changed) || !base_outside(other).is(&base))
        })
    }

    fn same(&self, other: &dyn DomainCheck, _py: Python<'_>) -> bool {
        let other = (other as &dyn std::any::Any).downcast_ref::<Self>();
        other.is_some_and(|other| other.changed == self.changed)
    }

    fn state<'py>(&self, py: Python<'py>) -> Option<(&'static str, Bound<'py, PyAny>)> {
        Some((KIN, self.changed.into_pyobject(py).ok()?.into_any()))
    }

    fn describe(&self) -> String {
        "are no views of one tensor with what is another leaf from then on".to_owned()
    }
}
