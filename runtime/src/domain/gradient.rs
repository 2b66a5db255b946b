//! The gradient that a call of the graph has made of a leaf.
use pyo3::prelude::*;

/// Whether a call of a function with gradients of its own does what `forward` does, and nothing else, where no argument needs any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainForward {
    /// It may do something else.
    No,
    /// It does, where the arguments are no floats: of those nobody knows whether they need gradients.
    OfIntegers,
    /// It does.
    Yes,
}

/// What a call does with how its operands were computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryUse {
    /// Nothing.
    None,
    /// It goes through it.
    Walks,
    /// It makes more of it, of what it goes through: what a backend has compiled cannot be gone through so.
    Extends,
}

/// How it is read, and what is known of it.
#[derive(Debug)]
pub struct Gradient<'py> {
    /// The function of the graph that gives it for the leaf. It does not raise.
    pub reader: Bound<'py, PyAny>,
    /// An object with the type and metadata of it.
    pub example: Bound<'py, PyAny>,
    /// Whether further calls add to it in place; `false`: they put another one there.
    pub grows: bool,
    /// An attribute of a leaf from outside that decides what it is, and the object that this holds.
    pub relies_on: Option<(&'static str, Bound<'py, PyAny>)>,
}
