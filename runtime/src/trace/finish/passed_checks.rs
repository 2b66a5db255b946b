//! Operations that raise for no contents where they are called, for the graph has run the same one on the same indices before.
use crate::domain::NodeEffects;
use crate::graph::{Argument, Node, NodeId, NodeOp};
use crate::trace::state::tracer::Tracer;
use pyo3::prelude::*;
use rustc_hash::FxHashSet;

impl Tracer<'_> {
    /// Whether a call that goes back through the graph needs an earlier node which would have raised where this one does: what decides that
    /// is the same input, and no input was changed since.
    pub(super) fn has_passed(&self, node: &Node, effects: &NodeEffects) -> bool {
        let Some(place) = effects.raises_by else { return false };
        if !self.state.numbers.layouts.is_empty() || self.works_on_open(node) {
            return false;
        }
        let needed = self.needed_by_backward();
        let nodes = &self.state.graph.nodes;
        let passed = nodes.iter().enumerate().rev().find(|(index, earlier)| {
            needed.contains(&NodeId(*index as u32)) && self.decides_the_same(earlier, node, place)
        });
        passed.is_some_and(|(index, _)| !self.changes_inputs_since(index))
    }

    /// The nodes that such calls need.
    fn needed_by_backward(&self) -> FxHashSet<NodeId> {
        let (mut open, mut needed) = (self.state.backward.nodes.to_vec(), FxHashSet::default());
        while let Some(id) = open.pop() {
            let is_dropped = self.state.dropped_nodes.contains(&id);
            let Some(node) = self.state.graph.nodes.get(id.0 as usize).filter(|_| !is_dropped && needed.insert(id))
            else {
                continue;
            };
            node.arguments().for_each(|argument| argument.nodes(&mut open));
        }
        needed
    }

    /// Whether both call the same, with the same operand at `place`, and others of the same kinds.
    fn decides_the_same(&self, earlier: &Node, node: &Node, place: usize) -> bool {
        let is_same_call = match (&earlier.target, &node.target) {
            (Some(one), Some(other)) => one.is(other) && earlier.op == NodeOp::CallFunction,
            _ => false,
        };
        let are_named_alike = || {
            let mut pairs = earlier.kwargs.iter().zip(&node.kwargs);
            earlier.kwargs.len() == node.kwargs.len()
                && pairs.all(|((one, held), (other, given))| one == other && self.are_same(held, given))
        };
        let are_alike = |(at, (one, other)): (usize, (&Argument, &Argument))| match (one, other) {
            _ if at == place => self.are_inputs(other) && self.are_same(one, other),
            (Argument::Node(one), Argument::Node(other)) => self.meta_of(*one) == self.meta_of(*other),
            _ => self.are_same(one, other),
        };
        is_same_call
            && earlier.args.len() == node.args.len()
            && node.args.len() > place
            && are_named_alike()
            && earlier.args.iter().zip(&node.args).enumerate().all(are_alike)
    }

    /// The type and metadata of what a node gives.
    fn meta_of(&self, node: NodeId) -> Option<&str> {
        self.state.graph.nodes.get(node.0 as usize).map(|node| node.meta.as_str())
    }

    /// Whether all that an argument names are inputs.
    fn are_inputs(&self, argument: &Argument) -> bool {
        let mut named = Vec::new();
        argument.nodes(&mut named);
        let nodes = &self.state.graph.nodes;
        named.iter().all(|id| nodes.get(id.0 as usize).is_some_and(|node| node.op == NodeOp::Placeholder))
    }

    /// Whether two arguments are the same objects at each call.
    fn are_same(&self, one: &Argument, other: &Argument) -> bool {
        match (one, other) {
            (Argument::Node(one), Argument::Node(other)) => one == other,
            (Argument::Constant(one), Argument::Constant(other)) => one.is(other) || self.are_equal(one, other),
            (Argument::Tuple(one), Argument::Tuple(other))
            | (Argument::List(one), Argument::List(other))
            | (Argument::Slice(one), Argument::Slice(other)) => {
                one.len() == other.len() && one.iter().zip(other).all(|(one, other)| self.are_same(one, other))
            }
            _ => false,
        }
    }

    /// Whether constants are equal numbers, texts or slices.
    fn are_equal(&self, one: &Py<PyAny>, other: &Py<PyAny>) -> bool {
        let (one, other) = (one.bind(self.py), other.bind(self.py));
        let class = one.get_type();
        let is_plain = matches!(&*crate::ffi::types::c_name(&class), "int" | "float" | "str" | "bool");
        is_plain && class.is(other.get_type()) && one.eq(other).unwrap_or(false)
    }

    /// Whether a node after that of the index changes what an input holds.
    fn changes_inputs_since(&self, index: usize) -> bool {
        self.state.graph.nodes.iter().enumerate().skip(index + 1).any(|(index, node)| {
            let Some((_, effects)) = self.effects_of(node).filter(|_| node.op == NodeOp::CallFunction) else {
                return false;
            };
            let written = self.written(NodeId(index as u32), node, &effects);
            written.into_iter().any(|changed| !self.inputs_behind(changed).is_empty())
        })
    }
}
