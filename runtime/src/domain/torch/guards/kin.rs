//! Which tensors have a base in common: a change that one of them follows to gradients is one of all.
use crate::domain::torch::thread::quiet::Quiet;
use crate::guard::DomainCheck;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// What the state is written as.
pub(in crate::domain::torch) const KIN: &str = "kin";

/// None of the last tensors has the base of one of the first, as many as this says, unless it is that one.
#[derive(Debug)]
pub(in crate::domain::torch) struct KinCheck {
    pub(in crate::domain::torch) changed: usize,
}

/// What a tensor from outside is a view of; itself, where it is none.
pub(in crate::domain::torch) fn base_outside<'py>(tensor: &Bound<'py, PyAny>) -> Bound<'py, PyAny> {
    let _quiet = Quiet::about([tensor]);
    let base = tensor.getattr(name!("_base")).ok().filter(|base| !base.is_none());
    base.unwrap_or_else(|| tensor.clone())
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
