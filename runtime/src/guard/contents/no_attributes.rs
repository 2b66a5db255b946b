//! The condition that an object has no attributes of its own.
use crate::ffi::types;
use crate::guard::condition::DomainCheck;
use pyo3::prelude::*;

/// What its state is written as.
pub(in crate::guard) const NO_ATTRIBUTES: &str = "no attributes";

/// That the `__dict__` of the object is empty, or not made yet.
#[derive(Debug)]
pub struct NoAttributes;

impl DomainCheck for NoAttributes {
    fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        !types::has_attributes(value)
    }

    fn same(&self, other: &dyn DomainCheck, _py: Python<'_>) -> bool {
        (other as &dyn std::any::Any).is::<Self>()
    }

    fn state<'py>(&self, py: Python<'py>) -> Option<(&'static str, Bound<'py, PyAny>)> {
        Some((NO_ATTRIBUTES, py.None().into_bound(py)))
    }

    fn describe(&self) -> String {
        "has no attributes of its own".to_owned()
    }
}
