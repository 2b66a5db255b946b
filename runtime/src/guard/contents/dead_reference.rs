//! The condition that a weak reference refers to nothing any more.
use crate::ffi::weak_references::referent;
use crate::guard::condition::DomainCheck;
use pyo3::prelude::*;

/// What its state is written as.
pub(in crate::guard) const DEAD_REFERENCE: &str = "dead reference";

/// That what a weak reference referred to is gone.
#[derive(Debug)]
pub struct DeadReference;

impl DomainCheck for DeadReference {
    fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        referent(value).is_none()
    }

    fn same(&self, other: &dyn DomainCheck, _py: Python<'_>) -> bool {
        (other as &dyn std::any::Any).is::<Self>()
    }

    fn state<'py>(&self, py: Python<'py>) -> Option<(&'static str, Bound<'py, PyAny>)> {
        Some((DEAD_REFERENCE, py.None().into_bound(py)))
    }

    fn describe(&self) -> String {
        "refers to nothing any more".to_owned()
    }
}
