//! The condition that C gives an answer of two containers: whether one is within the other, or how much both hold together.
use super::hashed_by_c::HashedByC;
use crate::guard::condition::DomainCheck;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyTuple};

/// Of two sets or frozensets: what a method of C gives. No code of Python runs for it.
#[derive(Debug)]
pub struct WholeAnswer {
    method: Py<PyAny>,
    answer: Answer,
}

/// What is compared of what the method gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is `True` or `False`.
    Truth(bool),
    /// It is a container with so many items.
    Length(usize),
}

impl Answer {
    /// Of what the method has given; `None`: it is of another kind.
    #[must_use]
    pub fn of(given: &Bound<'_, PyAny>) -> Option<Self> {
        match given.cast::<PyBool>() {
            Ok(truth) => Some(Self::Truth(truth.is_true())),
            Err(_) => given.len().ok().map(Self::Length),
        }
    }
}

impl WholeAnswer {
    /// That the method gives this.
    #[must_use]
    pub fn new(method: &Bound<'_, PyAny>, answer: Answer) -> Self {
        Self { method: method.clone().unbind(), answer }
    }
}

impl DomainCheck for WholeAnswer {
    fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        let Ok(both) = value.cast::<PyTuple>() else { return false };
        both.iter().all(|container| HashedByC::all(&container))
            && self.method.bind(value.py()).call1(both).is_ok_and(|given| Answer::of(&given) == Some(self.answer))
    }

    fn describe(&self) -> String {
        let method = Python::attach(|py| self.method.bind(py).repr().map(|text| text.to_string()).unwrap_or_default());
        match self.answer {
            Answer::Truth(truth) => format!("{method} gives {truth}"),
            Answer::Length(length) => format!("{method} gives {length} items"),
        }
    }
}
