//! Gradients: what requires them, calls that look at how their operands were computed, and the gradient that one has made of a leaf.
use super::operation::{Callee, Operand};
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

/// What a library knows of gradients.
pub trait Gradients {
    /// What a call does with how its operands were computed.
    fn use_of_history(&self, _: &Callee<'_>, _args: &[Operand<'_>], _kwargs: &[(String, Operand<'_>)]) -> HistoryUse {
        HistoryUse::None
    }
    /// The function that does what such a call does with a dict of values; `None`: it takes none.
    fn history_by_name<'py>(&self, _: &Callee<'py>) -> Option<Bound<'py, PyAny>> {
        None
    }
    /// Whether a value requires gradients.
    fn requires_gradients(&self, _example: &Bound<'_, PyAny>) -> bool {
        false
    }
    /// Whether a value of its kind can come to require them.
    fn may_require_gradients(&self, _example: &Bound<'_, PyAny>) -> bool {
        true
    }
    /// Whether it is the attribute of a leaf that is set where a call goes back through the graph.
    fn is_gradient(&self, _attribute: &str) -> bool {
        false
    }
    /// Attributes of an object from outside that hold functions of the program which are called where a call goes back to it.
    fn hooks_of(&self, _object: &Bound<'_, PyAny>) -> &'static [&'static str] {
        &[]
    }
}
