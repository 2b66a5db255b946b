//! Functions that operators take, traced as graphs of their own.
use crate::graph::{Argument, ForBackend, Graph, Node, NodeId, NodeOp, Origin};
use crate::symbol::SymbolicLayout;
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// What a function gives: tensors that it has made, alone or in tuples and lists, with plain values among them.
#[derive(Debug, PartialEq)]
pub(super) enum Shape {
    Leaf(usize),
    Tuple(Vec<Shape>),
    List(Vec<Shape>),
    Other(ValueId),
}

/// A tensor that a function gives: its node, its example, and its sizes where some are symbolic.
pub(super) type Leaf = (NodeId, Py<PyAny>, Option<Arc<SymbolicLayout>>);

/// A function that was traced, as nodes of its own.
pub(super) struct Body {
    pub(super) nodes: Vec<(NodeId, Node)>,
    pub(super) formals: Vec<NodeId>,
    pub(super) leaves: Vec<Leaf>,
    pub(super) shape: Shape,
}

/// What functions use of the outer graph, in the order of its first use.
pub(super) fn lifted(bodies: &[Body]) -> Vec<NodeId> {
    let mut found = Vec::new();
    for body in bodies {
        for (_, node) in &body.nodes {
            node.arguments().for_each(|argument| {
                argument.each_node(&mut |id| {
                    let own = body.formals.contains(&id) || body.nodes.iter().any(|(known, _)| *known == id);
                    if !own && !found.contains(&id) {
                        found.push(id);
                    }
                });
            });
        }
    }
    found
}

impl Body {
    /// Its graph, with what it is called with and what it uses as placeholders.
    pub(super) fn graph(&mut self, lifted: &[NodeId]) -> Graph {
        let mut graph = Graph::default();
        let mut places = FxHashMap::default();
        let placeholder = |index: usize| Node {
            name: format!("arg_{index}"),
            op: NodeOp::Placeholder,
            target: None,
            args: Vec::new(),
            kwargs: Vec::new(),
            meta: String::new(),
            domain: "torch",
            sizes: None,
            origin: Origin::default(),
            backend: ForBackend::default(),
        };
        for (index, id) in self.formals.iter().chain(lifted).enumerate() {
            places.insert(*id, NodeId(index as u32));
            graph.nodes.push(placeholder(index));
        }
        for (id, mut node) in self.nodes.drain(..) {
            node.args.iter_mut().for_each(|argument| rename(argument, &places));
            node.kwargs.iter_mut().for_each(|(_, argument)| rename(argument, &places));
            places.insert(id, NodeId(graph.nodes.len() as u32));
            graph.nodes.push(node);
        }
        let results = self.leaves.iter().map(|(id, ..)| Argument::Node(places.get(id).copied().unwrap_or(*id)));
        let mut output = placeholder(0);
        (output.op, output.args) = (NodeOp::Output, results.collect());
        output.name = "output".to_owned();
        graph.nodes.push(output);
        graph
    }
}

fn rename(argument: &mut Argument, places: &FxHashMap<NodeId, NodeId>) {
    match argument {
        Argument::Node(id) => *id = places.get(id).copied().unwrap_or(*id),
        Argument::Constant(_) => {}
        Argument::Tuple(items) | Argument::List(items) | Argument::Slice(items) => {
            items.iter_mut().for_each(|item| rename(item, places))
        }
    }
}
