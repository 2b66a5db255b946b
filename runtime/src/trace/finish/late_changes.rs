//! What PyTorch refuses for reasons that no rule and no example tells: where it comes after a change that cannot be taken back, the trace
//! ends before it.
use crate::domain::{Domain, NodeEffects};
use crate::graph::{Argument, Node, NodeId, NodeOp};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::Traced;
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::PyInt;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

impl<'py> Tracer<'py> {
    /// Breaks where operands are, or share memory with, what operations refuse, after a change that cannot be taken back.
    pub(crate) fn refuse_fragile(&mut self, domain: &Arc<dyn Domain>, node: &Node) -> Traced<()> {
        if self.state.final_changes.is_empty() {
            return Ok(());
        }
        let mut operands = Vec::new();
        node.arguments().for_each(|argument| argument.nodes(&mut operands));
        let modes = self.state.numbers.modes.iter().filter_map(|mode| self.state.graph.nodes.get(mode.0 as usize));
        let mut targets = modes.filter_map(|mode| mode.target.as_ref());
        let is_mixed = targets.any(|target| domain.makes_fragile(target.bind(self.py)));
        let is_fragile = |operand: NodeId| {
            let (memory, behind) = self.memory_behind(operand);
            let mut inputs = self.state.inputs.iter().filter(|(node, _)| behind.contains(node));
            inputs.any(|(_, value)| self.real(*value).is_some_and(|object| domain.is_fragile(&object)))
                || is_mixed && self.is_older_than_modes(&memory)
        };
        match operands.into_iter().any(is_fragile) {
            true => self.break_after_final_changes(),
            false => Ok(()),
        }
    }

    /// Whether the graph has set modes since one of these nodes.
    fn is_older_than_modes(&self, nodes: &FxHashSet<NodeId>) -> bool {
        let is_input = |id: &NodeId| self.state.graph.nodes[id.0 as usize].op == NodeOp::Placeholder;
        let first = nodes.iter().filter(|id| !is_input(id)).min();
        first.is_some_and(|first| self.state.numbers.modes.iter().any(|mode| mode > first))
    }

    /// Breaks where a change that gradients follow comes after one that cannot be taken back, and may be refused: that of a view of a leaf, of
    /// a view that is one of several or was made in another mode, of what nobody knows how it was made.
    pub(crate) fn refuse_followed_change(&mut self, followed: &[NodeId]) -> Traced<()> {
        if self.state.final_changes.is_empty() || followed.is_empty() {
            return Ok(());
        }
        let passed: FxHashSet<_> =
            self.state.final_changes.iter().flat_map(|changed| self.inputs_behind(*changed)).collect();
        let may_be_refused = |id: &NodeId| {
            let node = &self.state.graph.nodes[id.0 as usize];
            let is_known = |effects: NodeEffects| !effects.is_unknown && !effects.gives_several;
            match node.op {
                NodeOp::Placeholder => !passed.contains(id),
                _ => !self.effects_of(node).is_some_and(|(_, effects)| is_known(effects)),
            }
        };
        let is_refused =
            |memory: FxHashSet<NodeId>| memory.iter().any(may_be_refused) || self.is_older_than_modes(&memory);
        match followed.iter().any(|changed| is_refused(self.memory_behind(*changed).0)) {
            true => self.break_after_final_changes(),
            false => Ok(()),
        }
    }

    /// Breaks where a change comes after one that cannot be taken back, and the memory that it writes may be that of its other operands, or
    /// hold one element several times.
    pub(crate) fn refuse_overlaps(&mut self, domain: &Arc<dyn Domain>, written: &[ValueId], by: NodeId) -> Traced<()> {
        let mut changed = Vec::new();
        for value in written {
            let example = self.example(domain, *value)?;
            if domain.overlaps_itself(&example) {
                return self.break_after_final_changes();
            }
            changed.push(self.graph_node(*value)?);
        }
        let mut operands = changed.clone();
        self.state.graph.nodes[by.0 as usize].arguments().for_each(|argument| argument.nodes(&mut operands));
        let operands: FxHashSet<_> = operands.into_iter().collect();
        let (mut places, mut inputs): (FxHashMap<_, Place>, FxHashMap<_, bool>) = Default::default();
        let mut meets = false;
        for operand in operands {
            let is_changed = changed.contains(&operand);
            for Root { node, is_aside, part } in self.roots(operand) {
                meets |= places.entry((node, is_aside)).or_default().add(part, is_changed);
                if !is_aside {
                    *inputs.entry(node).or_default() |= is_changed;
                }
            }
        }
        let object = |value| self.real(value).filter(|object| self.has_memory(object));
        let behind = self.state.inputs.iter().filter_map(|(node, value)| Some((object(*value)?, *inputs.get(node)?)));
        let (objects, changed): (Vec<_>, Vec<_>) = behind.unzip();
        match meets || domain.share_memory(&objects, &changed) {
            true => self.break_after_final_changes(),
            false => Ok(()),
        }
    }

    /// What the memory of a node belongs to.
    fn roots(&self, node: NodeId) -> FxHashSet<Root> {
        let (mut work, mut seen, mut found) = (vec![(node, None)], FxHashSet::default(), FxHashSet::default());
        while let Some((id, part)) = work.pop() {
            let Some(node) = self.state.graph.nodes.get(id.0 as usize).filter(|_| seen.insert((id, part))) else {
                continue;
            };
            let behind = self.shares_with(id, node);
            match self.lies_aside(node) {
                true => found.extend(behind.into_iter().map(|node| Root { node, is_aside: true, part: None })),
                false if behind.is_empty() => drop(found.insert(Root { node: id, is_aside: false, part })),
                false => work.extend(behind.into_iter().map(|behind| (behind, part_of(self.py, node)))),
            }
        }
        found
    }

    /// Whether what a node gives belongs to its operand, and lies in memory of its own.
    fn lies_aside(&self, node: &Node) -> bool {
        let domain = self.state.domains.iter().find(|domain| domain.name() == node.domain);
        domain.zip(node.target.as_ref()).is_some_and(|(domain, target)| domain.lies_aside(target.bind(self.py)))
    }
}

/// The index of the item that a node gives of its first operand.
fn part_of(py: Python<'_>, node: &Node) -> Option<u64> {
    match &node.args[..] {
        [_, Argument::Constant(index)] if node.name.contains("getitem") => {
            index.bind(py).cast_exact::<PyInt>().ok()?.extract().ok()
        }
        _ => None,
    }
}

/// A node, or what lies beside it as its gradient does, or an item of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Root {
    node: NodeId,
    is_aside: bool,
    part: Option<u64>,
}

/// Which operands are in the memory of one node, and whether they are changed: of the whole, of its items.
#[derive(Default)]
struct Place {
    whole: Option<bool>,
    parts: FxHashMap<u64, bool>,
}

impl Place {
    /// Adds one; whether it meets another one, and one of them is changed.
    fn add(&mut self, part: Option<u64>, is_changed: bool) -> bool {
        let other = match part {
            Some(part) => self.parts.insert(part, is_changed),
            None => (!self.parts.is_empty()).then(|| self.parts.values().any(|changed| *changed)),
        };
        let meets = |other: Option<bool>| other.is_some_and(|other| other || is_changed);
        let met = meets(other) || meets(self.whole);
        if part.is_none() {
            self.whole = Some(is_changed || self.whole == Some(true));
        }
        met
    }
}
