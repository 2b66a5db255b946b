//! What the emitter needs of whoever compiles.
use crate::graph::{Graph, GraphCondition};
use crate::split::{Continuation, TransferConstants};
use pyo3::prelude::*;

/// What a backend made of a graph.
#[derive(Debug)]
pub struct CompiledGraph {
    /// Takes the graph's inputs; gives the tuple of its results.
    pub callable: Py<PyAny>,
    /// When it is right.
    pub conditions: Vec<GraphCondition>,
}

/// Whoever compiles: gives compiled graphs and continuations.
pub trait Host {
    /// The callable that runs in place of the graph; without one, its calls are written into the code.
    fn backend(&self, py: Python<'_>, graph: &Graph, examples: &[Py<PyAny>]) -> PyResult<Option<CompiledGraph>>;
    /// The callable of a continuation; equal keys, one callable.
    fn continuation(&self, py: Python<'_>, wanted: &Continuation) -> PyResult<Py<PyAny>>;
    /// The callable of a continuation of a frame that another one has entered: of this function, or one with its code and globals.
    fn entered(&self, py: Python<'_>, function: &Py<PyAny>, wanted: &Continuation) -> PyResult<Py<PyAny>>;
    /// The constants that transfers use.
    fn constants(&self) -> &TransferConstants;
}
