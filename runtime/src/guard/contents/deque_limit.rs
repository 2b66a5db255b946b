//! The condition that a deque has room for so many items.
use crate::ffi::containers::{self, Kind};
use crate::guard::condition::DomainCheck;
use pyo3::prelude::*;

/// What its state is written as.
pub(in crate::guard) const DEQUE_LIMIT: &str = "deque limit";

/// That a `deque`, or an instance of a derived class, has this `maxlen`.
#[derive(Debug)]
pub struct DequeLimit(pub Option<usize>);

impl DomainCheck for DequeLimit {
    fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        let container = containers::of(&value.get_type()).filter(|container| container.kind == Kind::Deque);
        let limit = container.and_then(|container| container.limit(value).ok()?.extract::<Option<usize>>().ok());
        limit.is_some_and(|limit| limit == self.0)
    }

    fn state<'py>(&self, py: Python<'py>) -> Option<(&'static str, Bound<'py, PyAny>)> {
        Some((DEQUE_LIMIT, (self.0,).into_pyobject(py).ok()?.into_any()))
    }

    fn describe(&self) -> String {
        match self.0 {
            Some(limit) => format!("has at most {limit} items"),
            None => "has any number of items".to_owned(),
        }
    }
}
