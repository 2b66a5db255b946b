//! One trace from its bytes: guards first; the rest where they hold for the call at hand.
use super::own_objects::OwnObjects;
use super::write::{FOUND, KEPT, MADE};
use crate::emit::{GraphForBackend, GraphInput, Rebuild, guard_of};
use crate::ffi::Args;
use crate::graph::Graph;
use crate::guard::source::Source;
use crate::guard::{Guard, Program};
use crate::stored::{Damaged, In, Misfit};
use pyo3::prelude::*;
use pyo3::types::PyCode;
use std::sync::Arc;

/// A trace that is being read, whose guards hold.
pub struct Beginning {
    /// The guards that the trace itself relies on.
    pub guards: Program,
    /// Whether numbers that guards asked for had differed more than once.
    pub again: bool,
    /// What symbols come from.
    pub symbols: Vec<Source>,
    /// What else it takes to make the code anew.
    pub rebuild: Rebuild,
    /// What is to be compiled where the native call reaches it.
    pub inside: Vec<Py<PyAny>>,
}

/// A graph for the backend of this process, with what comes in for it in this call.
pub struct WantedGraph {
    graph: Graph,
    inputs: Vec<GraphInput>,
    places: Program,
    pub examples: Vec<Py<PyAny>>,
}

/// Reads the guards of a trace.
pub fn read_guards<'a, 'py>(
    from: &mut In<'a, 'py>,
    ours: &OwnObjects<'py>,
    args: Args<'a, 'py>,
    function: &Bound<'py, PyAny>,
) -> Result<Program, Misfit> {
    Ok(Program::new(from.py(), guards(from, ours, args, function)?)?)
}

fn guards<'a, 'py>(
    from: &mut In<'a, 'py>,
    ours: &OwnObjects<'py>,
    args: Args<'a, 'py>,
    function: &Bound<'py, PyAny>,
) -> Result<Vec<Guard>, Misfit> {
    let checks = |name: &str, state: &Bound<'_, PyAny>| ours.check_of(name, state);
    Guard::read_all(from, &checks, args, function)
}

/// Reads what stands between the guards, which hold for this call, and the code.
pub fn read_beginning<'a, 'py>(
    from: &mut In<'a, 'py>,
    ours: &OwnObjects<'py>,
    guards: Program,
    args: Args<'a, 'py>,
    function: &Bound<'py, PyAny>,
) -> Result<(Beginning, Option<WantedGraph>), Misfit> {
    let again = from.bytes.byte()? != 0;
    let mut rebuild = Rebuild { guards: guards.len(), ..Rebuild::default() };
    let mut symbols = Vec::new();
    if from.bytes.byte()? != 0 {
        let places = self::guards(from, ours, args, function)?;
        symbols = places.iter().map(|guard| guard.source.clone()).collect();
        rebuild.symbols = Some(Program::new(from.py(), places)?);
    }
    let graph = if from.bytes.byte()? == 0 { None } else { Some(read_graph(from, ours, args, function)?) };
    let mut inside = Vec::new();
    for _ in 0..from.bytes.count()? {
        inside.push(from.object()?.cast_into::<PyCode>().map_err(|_| Damaged)?.into_any().unbind());
    }
    Ok((Beginning { guards, again, symbols, rebuild, inside }, graph))
}

fn read_graph<'a, 'py>(
    from: &mut In<'a, 'py>,
    ours: &OwnObjects<'py>,
    args: Args<'a, 'py>,
    function: &Bound<'py, PyAny>,
) -> Result<WantedGraph, Misfit> {
    let py = from.py();
    let mut inputs = Vec::new();
    for _ in 0..from.bytes.count()? {
        inputs.push(match from.bytes.byte()? {
            FOUND => GraphInput::Found,
            KEPT => GraphInput::Kept(from.object()?.unbind()),
            MADE => GraphInput::Made,
            _ => return Err(Damaged.into()),
        });
    }
    let places = read_guards(from, ours, args, function)?;
    let graph = Graph::read(from, &ours.names_of_domains())?;
    let found = places.check(args, function).map_err(|_| Misfit::new("an input of its graph is not there"))?;
    let mut found = places.looked_at(&found);
    let mut example = |input: &GraphInput| match input {
        GraphInput::Found => Ok(found.next().flatten().ok_or(Damaged)?.unbind()),
        GraphInput::Kept(object) => Ok(object.clone_ref(py)),
        GraphInput::Made => Ok(py.None()),
    };
    let examples = inputs.iter().map(&mut example).collect::<Result<_, Damaged>>()?;
    drop(found);
    Ok(WantedGraph { graph, inputs, places, examples })
}

impl WantedGraph {
    /// The graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// What it is made anew of, once a backend has made this of it.
    pub fn compiled(self, compiled: Py<PyAny>) -> GraphForBackend {
        GraphForBackend { graph: Arc::new(self.graph), compiled, inputs: self.inputs, places: self.places }
    }
}

impl Beginning {
    /// With the guards that a backend asks for.
    pub fn with_conditions(
        self,
        py: Python<'_>,
        conditions: Vec<crate::graph::GraphCondition>,
    ) -> Result<Self, crate::emit::Failure> {
        if conditions.is_empty() {
            return Ok(self);
        }
        let more = conditions.into_iter().map(|condition| guard_of(condition, &self.symbols));
        let more = Program::new(py, more.collect::<Result<_, _>>()?)?;
        Ok(Self { guards: self.guards.followed_by(more), ..self })
    }
}
