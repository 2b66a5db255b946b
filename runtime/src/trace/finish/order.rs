//! Puts placeholders first in the graph, and guards that ask the system first among guards.
use crate::graph::{Argument, NodeId, NodeOp};
use crate::trace::state::outcome::Outcome;
use crate::trace::state::reasons::{READS_SYSTEM, USED_LOCK};
use crate::trace::state::value::Value;

/// Moves the placeholders to the front and renames nodes accordingly everywhere.
pub(crate) fn placeholders_first(outcome: &mut Outcome) {
    if outcome.graph.nodes.is_empty() {
        return;
    }
    let nodes = std::mem::take(&mut outcome.graph.nodes);
    let mut places = vec![NodeId(0); nodes.len()];
    let is_input = |op: NodeOp| op == NodeOp::Placeholder;
    let order = nodes.iter().enumerate().filter(|(_, node)| is_input(node.op));
    let order: Vec<usize> =
        order.chain(nodes.iter().enumerate().filter(|(_, node)| !is_input(node.op))).map(|(old, _)| old).collect();
    for (new, old) in order.iter().enumerate() {
        places[*old] = NodeId(new as u32);
    }
    let mut sorted: Vec<_> = nodes.into_iter().enumerate().map(|(old, node)| (places[old], node)).collect();
    sorted.sort_by_key(|(place, _)| *place);
    for (_, mut node) in sorted {
        node.args.iter_mut().for_each(|arg| rename(arg, &places));
        node.kwargs.iter_mut().for_each(|(_, arg)| rename(arg, &places));
        outcome.graph.nodes.push(node);
    }
    let at = |node: NodeId| places.get(node.0 as usize).copied().unwrap_or(node);
    outcome.inputs.iter_mut().for_each(|(node, _)| *node = at(*node));
    for value in &mut outcome.values {
        if let Value::Node { node, .. } = value {
            *node = at(*node);
        }
    }
}

fn rename(argument: &mut Argument, places: &[NodeId]) {
    match argument {
        Argument::Node(node) => *node = places.get(node.0 as usize).copied().unwrap_or(*node),
        Argument::Constant(_) => {}
        Argument::Tuple(items) | Argument::List(items) => items.iter_mut().for_each(|item| rename(item, places)),
    }
}

/// Puts questions to the system before all other guards, so that from those on no other thread runs before locks are acquired.
pub(crate) fn system_first(outcome: &mut Outcome) {
    if outcome.guards.iter().any(|guard| guard.reason.why == USED_LOCK) {
        outcome.guards.sort_by_key(|guard| guard.reason.why != READS_SYSTEM);
    }
}
