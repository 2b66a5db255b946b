//! The condition that a deque has so many items, and room for so many.
use crate::ffi::containers::{self, Kind};
use crate::guard::condition::DomainCheck;
use pyo3::prelude::*;

/// What its state is written as.
pub(in crate::guard) const DEQUE_SHAPE: &str = "deque shape";

/// That a `deque`, or an instance of a derived class, has this length and this limit.
#[derive(Debug)]
pub struct DequeShape {
    /// How many items there are.
    pub length: usize,
    /// `maxlen`.
    pub limit: Option<usize>,
}

impl DomainCheck for DequeShape {
    fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        let container = containers::of(&value.get_type()).filter(|container| container.kind == Kind::Deque);
        container.is_some_and(|container| {
            let limit = || container.limit(value).and_then(|limit| limit.extract::<Option<usize>>());
            container.length(value).is_ok_and(|length| length == self.length)
                && limit().is_ok_and(|limit| limit == self.limit)
        })
    }

    fn state<'py>(&self, py: Python<'py>) -> Option<(&'static str, Bound<'py, PyAny>)> {
        Some((DEQUE_SHAPE, (self.length, self.limit).into_pyobject(py).ok()?.into_any()))
    }

    fn describe(&self) -> String {
        match self.limit {
            Some(limit) => format!("has length {}, at most {limit}", self.length),
            None => format!("has length {}", self.length),
        }
    }
}
