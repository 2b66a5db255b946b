//! Releases where CPython tells of no changes: no watch can be made.
use crate::ffi::held::Held;
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::convert::Infallible;
use std::sync::Arc;

/// What cannot be made on this release.
#[derive(Debug)]
pub struct Watch(Infallible);

/// What no watch keeps here.
#[derive(Clone, Debug)]
pub struct Kept(Infallible);

impl Kept {
    /// Never asked.
    #[must_use]
    pub fn get<'py>(&self, _py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        match self.0 {}
    }

    /// Never asked.
    #[must_use]
    pub fn same(&self, _other: &Self) -> bool {
        match self.0 {}
    }
}

/// How an object is known to live when its memory is read.
#[derive(Clone, Debug)]
pub enum Owner {
    /// Never made.
    Kept(Kept),
    /// Whoever reads names it.
    Held(Arc<Held>),
    /// Whoever reads has it at hand in the same call, at this address.
    AtHand(usize),
}

/// A word of memory that nothing looks at here.
#[derive(Clone, Debug)]
pub struct Word {
    /// What the caller calls it.
    pub mark: u32,
    never: Infallible,
}

impl Word {
    /// None.
    #[must_use]
    pub fn of_class(_owner: &Owner, _object: &Bound<'_, PyAny>, _mark: u32) -> Option<Self> {
        None
    }

    /// None.
    #[must_use]
    pub fn of_namespace(_: &Owner, _object: &Bound<'_, PyAny>, _dict: &Bound<'_, PyAny>, _mark: u32) -> Option<Self> {
        None
    }

    /// Never asked.
    #[must_use]
    pub fn holds(&self, _py: Python<'_>, _at_hand: impl Fn(usize) -> bool) -> bool {
        match self.never {}
    }
}

/// Nothing is watched.
#[must_use]
pub fn counts() -> [Option<usize>; 3] {
    [None; 3]
}

impl Watch {
    /// None.
    #[must_use]
    pub fn new(_py: Python<'_>) -> Option<Self> {
        None
    }

    /// Never asked.
    #[must_use]
    pub fn holds(&self) -> bool {
        match self.0 {}
    }

    /// Never asked.
    #[must_use]
    pub fn causes(&self) -> Vec<u32> {
        match self.0 {}
    }

    /// Never asked.
    pub fn entry(&mut self, _dict: &Bound<'_, PyAny>, _key: &Bound<'_, PyAny>, _mark: u32) -> bool {
        match self.0 {}
    }

    /// Never asked.
    pub fn value(&mut self, _dict: &Bound<'_, PyAny>, _key: &Bound<'_, PyAny>, _mark: u32) -> Option<Kept> {
        match self.0 {}
    }

    /// Never asked.
    pub fn end(&mut self, _dict: &Bound<'_, PyAny>, _mark: u32) -> bool {
        match self.0 {}
    }

    /// Never asked.
    pub fn names(&mut self, _dict: &Bound<'_, PyAny>, _mark: u32) -> bool {
        match self.0 {}
    }

    /// Never asked.
    pub fn class(&mut self, _class: &Bound<'_, PyType>, _mark: u32) -> bool {
        match self.0 {}
    }

    /// Never asked.
    pub fn function(&mut self, _function: &Bound<'_, PyAny>, _mark: u32) -> bool {
        match self.0 {}
    }
}
