//! Nodes of a graph, as a domain that runs them again gets them.
use crate::graph::Argument;
use pyo3::prelude::*;

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
