//! Emits the code of a traced frame.
use super::failure::Failure;
use super::frame_end::Frame;
use super::host::Host;
use super::prologue::TracedFrame;
use super::writer::Writer;
use super::{assemble, graph_io, liveness, reraise};
use crate::bytecode::Code;
use crate::graph::Graph;
use crate::guard::Program;
use crate::split::transfer_at_start;
use crate::trace::state::outcome::Outcome;
use pyo3::prelude::*;

/// Compiled code of one frame.
#[derive(Debug)]
pub struct EmittedCode {
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
    frame: TracedFrame<'_, 'py>,
    mut outcome: Outcome,
    host: &dyn Host,
) -> Result<EmittedCode, Failure> {
    let mut end = Frame::new(py, code, &outcome, host)?;
    reraise::set_position(py, code, &mut end, &mut outcome);
    let needed = liveness::find(&outcome);
    let graph = graph_io::finish_graph(py, &mut outcome, &needed);
    let mut writer = Writer::new(py, &outcome, code, host);
    writer.load_sources(&needed)?;
    let graph = writer.call_graph(graph, frame, host)?;
    writer.build(&needed)?;
    writer.replay()?;
    writer.finish(&end)?;
    let prologue = writer.into_prologue();
    let ops = graph.as_ref().map_or(0, |graph| graph.ops);
    let made = assemble::assemble(py, frame.function, end, prologue, host, !outcome.held_first.is_empty())?;
    let guards = Program::new(py, outcome.guards)?;
    Ok(EmittedCode { function: made.function, code: made.code, guards, graph: graph.map(|graph| graph.graph), ops })
}
