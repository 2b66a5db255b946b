//! Numbers that are computed from others.
use crate::graph::ValueId;
use crate::symbol::{ExpressionId, Operation};
use pyo3::prelude::*;
use smallvec::SmallVec;

/// A number that compiled code computes again from others.
#[derive(Debug)]
pub struct ComputedNumber {
    /// What it is the result of.
    pub operation: Operation,
    /// The operation's operands.
    pub operands: SmallVec<[ValueId; 2]>,
    /// The number in the call that is traced.
    pub hint: Py<PyAny>,
    /// As an expression; `None` where guards cannot compute it.
    pub expression: Option<ExpressionId>,
}
