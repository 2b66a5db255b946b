//! The graph's inputs and outputs: its output node, its inputs, and the example inputs for the backend.
use super::liveness::LiveValues;
use crate::graph::{Argument, ForBackend, Graph, Node, NodeId, NodeOp, Origin};
use crate::trace::state::outcome::Outcome;
use crate::trace::state::value::{Value, ValueId};
use pyo3::prelude::*;
use rustc_hash::FxHashSet;

/// A graph ready to be called.
#[derive(Debug)]
pub struct FinishedGraph {
    /// With its output node.
    pub graph: Graph,
    /// Values of the placeholders, in order.
    pub inputs: Vec<ValueId>,
    /// Nodes whose results come back, in order.
    pub results: Vec<NodeId>,
    /// Objects like those that will come in.
    pub examples: Vec<Py<PyAny>>,
}

/// Takes the graph out of the outcome; `None` where no call in it is needed and none may have an effect.
pub fn finish_graph(py: Python<'_>, outcome: &mut Outcome, needed: &LiveValues) -> Option<FinishedGraph> {
    let mut graph = std::mem::take(&mut outcome.graph);
    let calls = graph.nodes.iter().filter(|node| node.op == NodeOp::CallFunction).count();
    if calls == 0 {
        return None;
    }
    let placeholders: FxHashSet<NodeId> = outcome.inputs.iter().map(|(node, _)| *node).collect();
    let results: Vec<NodeId> = needed.results.iter().copied().filter(|node| !placeholders.contains(node)).collect();
    let mut seen = FxHashSet::default();
    let results: Vec<NodeId> = results.into_iter().filter(|node| seen.insert(*node)).collect();
    graph.nodes.push(output(&results));
    let graph = placeholders_first(graph);
    let example = |(_, value): &(NodeId, ValueId)| example(py, outcome, *value);
    let examples = outcome.inputs.iter().map(example).collect();
    let inputs = outcome.inputs.iter().map(|(_, value)| *value).collect();
    Some(FinishedGraph { graph, inputs, results, examples })
}

/// The same graph with all placeholders before the first call, in their order.
fn placeholders_first(graph: Graph) -> Graph {
    let (mut inputs, mut others) = (Vec::new(), Vec::new());
    for (index, node) in graph.nodes.into_iter().enumerate() {
        if node.op == NodeOp::Placeholder { inputs.push((index, node)) } else { others.push((index, node)) }
    }
    inputs.append(&mut others);
    let mut places = vec![0; inputs.len()];
    inputs.iter().enumerate().for_each(|(new, (old, _))| places[*old] = new as u32);
    let mut nodes: Vec<Node> = inputs.into_iter().map(|(_, node)| node).collect();
    for node in &mut nodes {
        let arguments = node.args.iter_mut().chain(node.kwargs.iter_mut().map(|(_, argument)| argument));
        arguments.for_each(|argument| renumber(argument, &places));
    }
    Graph { nodes }
}

fn renumber(argument: &mut Argument, places: &[u32]) {
    match argument {
        Argument::Node(node) => node.0 = places.get(node.0 as usize).copied().unwrap_or(node.0),
        Argument::Constant(_) => {}
        Argument::Tuple(items) | Argument::List(items) | Argument::Slice(items) => {
            items.iter_mut().for_each(|item| renumber(item, places))
        }
    }
}

fn output(results: &[NodeId]) -> Node {
    Node {
        name: "output".into(),
        op: NodeOp::Output,
        target: None,
        args: results.iter().map(|node| Argument::Node(*node)).collect(),
        kwargs: Vec::new(),
        meta: String::new(),
        domain: "",
        sizes: None,
        origin: Origin::default(),
        backend: ForBackend::default(),
    }
}

fn example(py: Python<'_>, outcome: &Outcome, value: ValueId) -> Py<PyAny> {
    match outcome.values.get(value.0 as usize) {
        Some(Value::Real { object, .. }) => object.clone_ref(py),
        Some(Value::Node { example, .. }) => example.clone_ref(py),
        Some(Value::New(_)) | None => py.None(),
    }
}
