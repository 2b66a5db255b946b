//! From a finished trace to code: the graph's call, side effects, rebuilt values, and the way on.
mod assemble;
mod eager;
mod effects;
mod end;
mod hold;
mod inputs;
mod need;
mod packets;
mod raises_again;
mod rescue;
mod values;
mod writer;

use crate::bytecode::Code;
use crate::graph::Graph;
use crate::guard::Program;
use crate::split::{Continuation, Refusal, TransferConstants, transfer_at_start};
use crate::trace::outcome::Outcome;
use pyo3::prelude::*;
pub use rescue::Begun;

/// What the emitter asks of whoever compiles.
pub trait Host {
    /// The callable that runs in place of the graph; without one, its calls are written into the code.
    fn backend(&self, py: Python<'_>, graph: &Graph, examples: &[Py<PyAny>]) -> PyResult<Option<Py<PyAny>>>;
    /// The callable of a continuation; equal keys, one callable.
    fn continuation(&self, py: Python<'_>, wanted: &Continuation) -> PyResult<Py<PyAny>>;
    /// The callable of a continuation of a frame that another one has entered: of this function, or one with its code and globals.
    fn entered(&self, py: Python<'_>, function: &Py<PyAny>, wanted: &Continuation) -> PyResult<Py<PyAny>>;
    /// Placeholders of hand-overs.
    fn constants(&self) -> &TransferConstants;
}

/// Compiled code of one frame.
#[derive(Debug)]
pub struct Emitted {
    /// Runs the frame; takes the values of all parameters, positionally.
    pub function: Py<PyAny>,
    /// Its code object.
    pub code: Py<PyAny>,
    /// When it is right.
    pub guards: Program,
    /// The graph, if anything was recorded that is needed.
    pub graph: Option<Graph>,
    /// Calls in the graph.
    pub ops: usize,
}

/// Why there is no compiled code.
#[derive(Debug)]
pub enum Failure {
    /// The frame runs as it is, for this reason.
    Refused(String),
    /// Python raised, in the backend or because of a fault of ours.
    Python(PyErr),
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl From<crate::bytecode::Error> for Failure {
    fn from(error: crate::bytecode::Error) -> Self {
        Self::Python(error.into())
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal.to_string())
    }
}

/// The function that makes a generator whose body runs in continuations from its first instruction on; `code` is `function`'s.
pub fn begin<'py>(
    py: Python<'py>,
    code: &Code,
    function: &Bound<'py, PyAny>,
    host: &dyn Host,
) -> Result<Py<PyAny>, Failure> {
    let split = transfer_at_start(py, code, host.constants())?;
    assemble::assemble_split(py, function, split, host)
}

/// Emits the code of a traced frame; `code` is what was traced, decoded from the function's code object.
pub fn emit<'py>(
    py: Python<'py>,
    code: &Code,
    begun: Begun<'_, 'py>,
    mut outcome: Outcome,
    host: &dyn Host,
) -> Result<Emitted, Failure> {
    let mut frame = end::Frame::new(py, code, &outcome, host)?;
    raises_again::stand(py, code, &mut frame, &mut outcome);
    let needed = need::find(&outcome);
    let graph = inputs::finish_graph(py, &mut outcome, &needed);
    let mut writer = writer::Writer::new(py, &outcome, code, host);
    writer.load_sources(&needed)?;
    let graph = writer.call_graph(graph, begun, host)?;
    writer.build(&needed)?;
    writer.replay()?;
    writer.finish(&frame)?;
    let prologue = writer.into_prologue();
    let ops = graph.as_ref().map_or(0, |graph| graph.ops);
    let made = assemble::assemble(py, begun.function, frame, prologue, host, !outcome.held_first.is_empty())?;
    let guards = Program::new(py, outcome.guards)?;
    Ok(Emitted { function: made.function, code: made.code, guards, graph: graph.map(|graph| graph.graph), ops })
}
