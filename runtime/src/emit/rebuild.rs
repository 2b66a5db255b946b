//! What it takes to make compiled code anew in another process, besides its guards and the code itself.
use super::failure::Failure;
use crate::graph::Graph;
use crate::guard::source::Source;
use crate::guard::{Check, Guard, Program, Reason};
use crate::trace::state::outcome::Outcome;
use crate::trace::state::value::{Value, ValueId};
use pyo3::prelude::*;
use std::sync::Arc;

/// What else another process needs.
#[derive(Debug, Default)]
pub struct Rebuild {
    /// How many guards the trace itself relies on; those after them are a backend's, which says so again.
    pub guards: usize,
    /// Where symbols come from, in their order.
    pub symbols: Option<Program>,
    /// The graph that a backend got.
    pub graph: Option<GraphForBackend>,
}

/// A graph that a backend got.
#[derive(Debug)]
pub struct GraphForBackend {
    /// The graph.
    pub graph: Arc<Graph>,
    /// What the backend made of it.
    pub compiled: Py<PyAny>,
    /// What each input is, in their order.
    pub inputs: Vec<GraphInput>,
    /// Where those come from that have a place.
    pub places: Program,
}

/// What comes in for a placeholder.
#[derive(Debug)]
pub enum GraphInput {
    /// What is found at the next place.
    Found,
    /// This object, which the compiled code keeps.
    Kept(Py<PyAny>),
    /// What the compiled code makes.
    Made,
}

impl Rebuild {
    /// Of a trace; its guards are complete but for a backend's.
    pub(super) fn new(py: Python<'_>, outcome: &Outcome) -> PyResult<Self> {
        let symbols = (!outcome.symbols.is_empty()).then(|| places(py, outcome.symbols.iter().cloned()));
        Ok(Self { guards: outcome.guards.len(), symbols: symbols.transpose()?, graph: None })
    }

    /// Of code without a graph and with these guards alone.
    pub(super) fn of_guards(guards: &[Guard]) -> Self {
        Self { guards: guards.len(), symbols: None, graph: None }
    }

    /// With a graph that a backend has made something of.
    pub(super) fn add_graph(
        &mut self,
        py: Python<'_>,
        graph: &Arc<Graph>,
        compiled: Py<PyAny>,
        values: &[ValueId],
        outcome: &Outcome,
    ) -> Result<(), Failure> {
        let mut sources = Vec::new();
        let mut input = |value: &ValueId| match outcome.values.get(value.0 as usize) {
            Some(Value::Real { source: Some(source), .. }) if !matches!(source, Source::Constant(_)) => {
                sources.push(source.clone());
                GraphInput::Found
            }
            Some(Value::Real { object, .. }) => GraphInput::Kept(object.clone_ref(py)),
            Some(Value::Node { .. } | Value::New(_)) | None => GraphInput::Made,
        };
        let inputs = values.iter().map(&mut input).collect();
        let places = places(py, sources)?;
        self.graph = Some(GraphForBackend { graph: Arc::clone(graph), compiled, inputs, places });
        Ok(())
    }

    /// Shows every object that it owns to the garbage collector.
    pub fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        self.symbols.iter().for_each(|symbols| symbols.traverse(visit));
        let Some(graph) = &self.graph else { return };
        graph.places.traverse(visit);
        visit(&graph.compiled);
        for input in &graph.inputs {
            if let GraphInput::Kept(object) = input {
                visit(object);
            }
        }
        graph.graph.traverse(visit);
    }
}

/// A program that finds what is at these places.
fn places(py: Python<'_>, sources: impl IntoIterator<Item = Source>) -> PyResult<Program> {
    let reason = || Reason { why: "compiled code is made anew of it", operation: None, place: None };
    let guard = |source| Guard { source, check: Check::Exists, reason: reason() };
    Program::new(py, sources.into_iter().map(guard).collect())
}
