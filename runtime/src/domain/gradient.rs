//! The gradient that a call of the graph has made of a leaf.
use pyo3::prelude::*;

/// How it is read, and what is known of it.
#[derive(Debug)]
pub struct Gradient<'py> {
    /// The function of the graph that gives it for the leaf. It does not raise.
    pub reader: Bound<'py, PyAny>,
    /// An object with the type and metadata of it.
    pub example: Bound<'py, PyAny>,
    /// An attribute of a leaf from outside that decides what it is, and the object that this holds.
    pub relies_on: Option<(&'static str, Bound<'py, PyAny>)>,
}
