//! Emits the code of a traced frame.
use super::failure::{Failure, fault};
use super::frame_end::Frame;
use super::graph_call::CalledGraph;
use super::host::{CompiledGraph, Host};
use super::prologue::TracedFrame;
use super::rebuild::Rebuild;
use super::writer::Writer;
use super::{assemble, graph_io, liveness, reraise};
use crate::bytecode::Code;
use crate::graph::{Graph, GraphCondition};
use crate::guard::source::Source;
use crate::guard::{Check, Guard, Program, Reason};
use crate::split::transfer_at_start;
use crate::trace::state::outcome::Outcome;
use pyo3::prelude::*;
use std::sync::Arc;

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
    pub graph: Option<Arc<Graph>>,
    /// What else another process needs to make the same.
    pub rebuild: Rebuild,
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
    let called = writer.call_graph(graph, frame, host)?;
    writer.build(&needed)?;
    writer.replay()?;
    writer.advance_iterators()?;
    writer.finish(&end)?;
    let mortal = writer.mortal_guards();
    let prologue = writer.into_prologue();
    let made = assemble::assemble(py, frame.function, end, prologue, host, !outcome.acquired_first.is_empty())?;
    outcome.guards.extend(mortal);
    let mut rebuild = Rebuild::new(py, &outcome)?;
    let ops = called.as_ref().map_or(0, |called| called.ops);
    let mut graph = None;
    if let Some(CalledGraph { graph: recorded, compiled, .. }) = called {
        let recorded = graph.insert(Arc::new(recorded));
        if let Some((CompiledGraph { callable, conditions }, inputs)) = compiled {
            rebuild.add_graph(py, recorded, callable, &inputs, &outcome)?;
            let conditions = conditions.into_iter().map(|condition| guard_of(condition, &outcome.symbols));
            outcome.guards.extend(conditions.collect::<Result<Vec<_>, _>>()?);
        }
    }
    let guards = Program::new(py, outcome.guards)?;
    Ok(EmittedCode { function: made.function, code: made.code, guards, graph, rebuild, ops })
}

/// The guard that what a backend relied on is so.
///
/// # Errors
/// Where it names symbols that are none of these.
pub fn guard_of((check, names): GraphCondition, symbols: &[Source]) -> Result<Guard, Failure> {
    let source =
        |name: &String| name.strip_prefix('s').and_then(|index| symbols.get(index.parse::<usize>().ok()?)).cloned();
    let sources: Option<Vec<Source>> = names.iter().map(source).collect();
    let sources =
        sources.ok_or_else(|| fault(format!("a backend names symbols that the graph does not have: {names:?}")))?;
    let reason = Reason { why: "the backend relied on it", operation: None, place: None };
    Ok(Guard { source: Source::Together(sources.into()), check: Check::Call(check), reason })
}
