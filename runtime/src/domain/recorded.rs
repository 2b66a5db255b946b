//! Nodes of a graph, as a domain that runs them again gets them.
use crate::graph::Argument;
use crate::symbol::{ExpressionId, SymbolicLayout};
use pyo3::prelude::*;
use std::cell::RefCell;
use std::sync::Arc;

/// A node of the graph.
#[derive(Debug)]
pub enum Recorded<'a, 'py> {
    /// An input: the object.
    Input(Bound<'py, PyAny>),
    /// A number that differs from call to call: what it is in this one.
    Number(Bound<'py, PyAny>),
    /// A call.
    Call {
        /// What is called.
        target: &'a Bound<'py, PyAny>,
        /// Positional arguments.
        args: &'a [Argument],
        /// Keyword arguments.
        kwargs: &'a [(String, Argument)],
        /// Whether a backend leaves it alone: it gets what stands before, and what stands after, as two graphs.
        apart: bool,
    },
    /// Nothing that counts.
    Other,
}

/// A node of the graph, with what is symbolic of it.
#[allow(missing_debug_implementations)]
pub enum SizedNode<'py> {
    /// An input: what stands for it, and its layout where some sizes are symbolic.
    Input(Bound<'py, PyAny>, Option<Arc<SymbolicLayout>>),
    /// A symbolic integer.
    Number(ExpressionId),
    /// A number that says no size: what it is in this call.
    Contents(Bound<'py, PyAny>),
    /// A call.
    Call(SizedCall<'py>),
    /// Nothing that counts.
    Other,
}

/// What is called, and with what.
#[allow(missing_debug_implementations)]
pub struct SizedCall<'py> {
    /// What is called.
    pub target: Bound<'py, PyAny>,
    /// Positional arguments.
    pub args: Vec<Argument>,
    /// Keyword arguments.
    pub kwargs: Vec<(String, Argument)>,
    /// Whether it sets a mode.
    pub is_mode: bool,
}

/// The graph so far, for an operation whose operands are in it.
#[allow(missing_debug_implementations)]
pub struct GraphOfSizes<'py> {
    /// What the domain keeps of the nodes before these.
    pub kept: RefCell<Option<Py<PyAny>>>,
    /// The nodes since it was told last.
    pub nodes: Vec<SizedNode<'py>>,
    /// The operation, as it would be recorded.
    pub call: SizedCall<'py>,
}
