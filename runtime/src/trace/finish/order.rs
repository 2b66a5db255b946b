//! Puts placeholders first in the graph; among guards, first those that ask the system, then those that ask libraries about their modes.
use crate::graph::{Argument, NodeId, NodeOp};
use crate::trace::state::outcome::Outcome;
use crate::trace::state::reasons::{READS_SYSTEM, SURROUNDINGS, USED_LOCK};
use crate::trace::state::value::Value;
use rustc_hash::FxHashSet;

/// Moves the placeholders to the front, leaves dropped nodes out, and renames nodes accordingly everywhere.
pub(crate) fn placeholders_first(outcome: &mut Outcome, dropped: &FxHashSet<NodeId>) {
    if outcome.graph.nodes.is_empty() {
        return;
    }
    let nodes = std::mem::take(&mut outcome.graph.nodes);
    let mut places = vec![NodeId(0); nodes.len()];
    let is_input = |op: NodeOp| op == NodeOp::Placeholder;
    let kept = || nodes.iter().enumerate().filter(|(old, _)| !dropped.contains(&NodeId(*old as u32)));
    let order = kept().filter(|(_, node)| is_input(node.op));
    let order: Vec<usize> = order.chain(kept().filter(|(_, node)| !is_input(node.op))).map(|(old, _)| old).collect();
    for (new, old) in order.iter().enumerate() {
        places[*old] = NodeId(new as u32);
    }
    let is_kept = |old: &usize| !dropped.contains(&NodeId(*old as u32));
    let nodes = nodes.into_iter().enumerate().filter(|(old, _)| is_kept(old));
    let mut sorted: Vec<_> = nodes.map(|(old, node)| (places[old], node)).collect();
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
        Argument::Tuple(items) | Argument::List(items) | Argument::Slice(items) => {
            items.iter_mut().for_each(|item| rename(item, places))
        }
    }
}

/// Puts the guards on the state of libraries before those that look at their objects: they say that nothing sees who looks.
pub(crate) fn surroundings_first(outcome: &mut Outcome) {
    outcome.guards.sort_by_key(|guard| guard.reason.why != SURROUNDINGS);
}

/// Puts questions to the system before all other guards, so that from those on no other thread runs before locks are acquired.
pub(crate) fn system_first(outcome: &mut Outcome) {
    if outcome.guards.iter().any(|guard| guard.reason.why == USED_LOCK) {
        outcome.guards.sort_by_key(|guard| guard.reason.why != READS_SYSTEM);
    }
}
