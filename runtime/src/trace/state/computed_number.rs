//! Numbers that are computed from others, and texts of them.
use crate::graph::ValueId;
use crate::symbol::{ExpressionId, Operation};
use pyo3::prelude::*;
use smallvec::SmallVec;

/// A number, or a text, that compiled code computes again from others.
#[derive(Debug)]
pub struct ComputedNumber {
    /// What it is the result of.
    pub computation: Computation,
    /// Its operands.
    pub operands: SmallVec<[ValueId; 2]>,
    /// The number in the call that is traced.
    pub hint: Py<PyAny>,
    /// As an expression; `None` where guards cannot compute it.
    pub expression: Option<ExpressionId>,
}

/// How a number is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Computation {
    /// By an operation.
    Operation(Operation),
    /// By a function, which has no expression: its module and its name.
    Call(&'static str, &'static str),
}

impl Computation {
    /// The module and the name of the function that computes it.
    #[must_use]
    pub fn function(self) -> (&'static str, &'static str) {
        match self {
            Self::Operation(operation) => (operation.module(), operation.name()),
            Self::Call(module, name) => (module, name),
        }
    }
}
