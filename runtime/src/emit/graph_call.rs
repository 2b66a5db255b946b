//! The call of the graph: what the backend made of it, or else all that it calls.
use super::deoptimise::Inputs;
use super::failure::Failure;
use super::graph_io::FinishedGraph;
use super::host::{CompiledGraph, Host};
use super::prologue::{Arg, TracedFrame};
use super::writer::Writer;
use crate::bytecode::Op;
use crate::graph::{Graph, NodeOp};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;

/// A graph that is called, as `explain` shows it.
pub struct CalledGraph {
    /// The graph.
    pub graph: Graph,
    /// Calls in it.
    pub ops: usize,
    /// What a backend made of it, and the values that it is called with.
    pub compiled: Option<(CompiledGraph, Vec<ValueId>)>,
}

impl<'py> Writer<'_, 'py> {
    /// Acquires the locks that come first, and calls what the backend made of the graph, or else all that the graph calls; keeps the results.
    pub fn call_graph(
        &mut self,
        finished: Option<FinishedGraph>,
        frame: TracedFrame<'_, 'py>,
        host: &dyn Host,
    ) -> Result<Option<CalledGraph>, Failure> {
        let saved = if finished.is_some() { self.save_inputs()? } else { None };
        let start = self.written.len();
        self.acquire_locks()?;
        let Some(finished) = finished else {
            if !self.outcome.acquired_first.is_empty() {
                let watched = start..self.written.len();
                self.deoptimisation =
                    Some(self.deoptimise(watched, &Graph::default(), Inputs { values: &[], saved }, frame, host)?);
            }
            return Ok(None);
        };
        let compiled = host.backend(self.py, &finished.graph, &finished.examples)?;
        let temporaries = match &compiled {
            Some(compiled) => self.call_compiled(compiled.callable.bind(self.py).clone(), &finished)?,
            None => self.write_calls(&finished, host)?,
        };
        let watched = start..self.written.len();
        self.deoptimisation = Some({
            let inputs = Inputs { values: &finished.inputs, saved };
            self.deoptimise(watched, &finished.graph, inputs, frame, host)?
        });
        self.results.extend(finished.results.iter().map(|node| node.0).zip(temporaries));
        let ops = finished.graph.nodes.iter().filter(|node| node.op == NodeOp::CallFunction).count();
        let compiled = compiled.map(|compiled| (compiled, finished.inputs));
        Ok(Some(CalledGraph { graph: finished.graph, ops, compiled }))
    }

    fn call_compiled(&mut self, compiled: Bound<'_, PyAny>, finished: &FinishedGraph) -> Result<Vec<usize>, Failure> {
        self.callee(compiled);
        finished.inputs.iter().try_for_each(|value| self.load(*value))?;
        self.call(finished.inputs.len() as u32);
        self.plain(Op::UNPACK_SEQUENCE, finished.results.len() as u32);
        let mut keep = |_| {
            let temporary = self.temporary();
            self.op(Op::STORE_FAST, Arg::Temporary(temporary));
            temporary
        };
        Ok(finished.results.iter().map(&mut keep).collect())
    }
}
