//! The guard that nobody has the object of a frame that a continuation goes on for.
use super::{Check, DomainCheck};
use crate::ffi::surviving_frames;
use pyo3::prelude::*;

/// Nobody waits for the variables of the frame that a continuation goes on for.
#[derive(Debug)]
pub(super) struct Unobserved;

/// What the state of the condition is written as.
pub(super) const UNOBSERVED: &str = "unobserved";

impl DomainCheck for Unobserved {
    fn holds(&self, _value: &Bound<'_, PyAny>) -> bool {
        !surviving_frames::exist()
    }

    fn same(&self, other: &dyn DomainCheck, _py: Python<'_>) -> bool {
        (other as &dyn std::any::Any).is::<Self>()
    }

    fn state<'py>(&self, py: Python<'py>) -> Option<(&'static str, Bound<'py, PyAny>)> {
        Some((UNOBSERVED, py.None().into_bound(py)))
    }

    fn describe(&self) -> String {
        "nobody keeps the frame".to_owned()
    }
}

/// That nobody does.
pub(crate) fn check() -> Check {
    Check::Domain(Box::new(Unobserved))
}
