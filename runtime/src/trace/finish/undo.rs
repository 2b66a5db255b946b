//! What a graph that raises has to take back before the frame runs its original code: changes of inputs, random numbers that it took.
use crate::domain::{Domain, NodeEffects};
use crate::graph::{Argument, Node, NodeId, NodeOp};
use crate::trace::state::outcome::Undo;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// What operations call a generator that they are given.
const GENERATOR: &str = "generator";

impl<'py> Tracer<'py> {
    /// What is to be saved before the graph runs: each time what it changes before the last node that contents can make raise.
    pub(crate) fn undo(&self) -> Undo {
        let mut undo = Undo::default();
        let (mut may_raise, mut in_any_order) = (false, false);
        let (mut changed, mut always, mut generators) = (FxHashSet::default(), FxHashSet::default(), Vec::new());
        let has_memory = |node: &NodeId| {
            let value = self.state.inputs.iter().find(|(input, _)| input == node);
            value.and_then(|(_, value)| self.real(*value)).is_none_or(|object| self.has_memory(&object))
        };
        // Changes by what the graph calls as a whole.
        let dropped = self.state.changed_by_graph.iter().filter(|change| self.state.dropped_nodes.contains(&change.by));
        dropped.for_each(|change| changed.extend(self.inputs_behind(change.operand)));
        for (index, node) in self.state.graph.nodes.iter().enumerate() {
            let id = NodeId(index as u32);
            if node.op != NodeOp::CallFunction || self.state.dropped_nodes.contains(&id) {
                continue;
            }
            let Some((domain, effects)) = self.effects_of(node) else { continue };
            if domain.takes_back_changes() {
                undo.domain = Some(domain);
            }
            self.written(id, node, &effects).into_iter().for_each(|node| changed.extend(self.inputs_behind(node)));
            if effects.draws {
                undo.parts.random = true;
                node.arguments().for_each(|argument| each_generator(self.py, argument, &mut generators));
            }
            undo.parts.nesting |= effects.nests;
            in_any_order |= effects.checks && self.state.backend;
            if !self.state.sure_nodes.contains(&id) && self.may_raise(node, &effects) {
                may_raise = true;
                always.extend(changed.iter().copied());
                undo.parts_always = undo.parts;
            }
        }
        if may_raise {
            // Nothing tells whether the graph has changed them.
            always.extend(changed.iter().copied().filter(|node| !has_memory(node)));
        }
        if in_any_order {
            always.clone_from(&changed);
            undo.parts_always = undo.parts;
        }
        undo.parts_always.nesting = undo.parts.nesting;
        let inputs = self.state.inputs.iter().filter(|(node, _)| changed.contains(node));
        let mut inputs: Vec<(NodeId, ValueId)> = inputs.copied().collect();
        inputs.sort_by_key(|(node, _)| !always.contains(node));
        undo.always = inputs.iter().filter(|(node, _)| always.contains(node)).count();
        // PyTorch may refuse the change of what gradients follow, before it is made.
        let may_be_refused = !self.state.final_changes.is_empty() && self.state.backward.nodes.is_empty();
        undo.raises_before = (may_raise || may_be_refused) && undo.always < inputs.len();
        undo.inputs = inputs.into_iter().map(|(_, value)| value).collect();
        undo.generators = generators;
        self.save_gradients(&mut undo);
        undo
    }

    /// Saves the gradients of inputs where the graph goes back through itself: it may have given some when that raises.
    fn save_gradients(&self, undo: &mut Undo) {
        let Some(node) = self.state.backward.nodes.first() else { return };
        let Some((domain, _)) = self.state.graph.nodes.get(node.0 as usize).and_then(|node| self.effects_of(node))
        else {
            return;
        };
        let inputs = self.state.inputs.iter().map(|(_, value)| *value).filter(|value| !self.is_symbolic(*value));
        let may_be_given =
            |value: &ValueId| self.real(*value).is_none_or(|object| domain.may_require_gradients(&object));
        undo.leaves = inputs.filter(may_be_given).collect();
        undo.domain = Some(domain);
    }

    /// Breaks where an operation may raise after a change that cannot be taken back, or while it makes one.
    fn refuse_after_final_changes(&mut self, domain: &Arc<dyn Domain>, target: &Bound<'py, PyAny>) -> Traced<()> {
        match self.state.final_changes.is_empty() || !domain.effects(target).raises {
            true => Ok(()),
            false => self.break_after_final_changes(),
        }
    }

    /// Breaks where a node may raise after a change that cannot be taken back.
    pub(crate) fn refuse_late_failure(&mut self, node: &Node, has_kernel: bool) -> Traced<()> {
        if self.state.final_changes.is_empty() {
            return Ok(());
        }
        match self.effects_of(node) {
            Some(_) if !has_kernel => self.break_after_final_changes(),
            Some((_, effects)) if self.may_raise(node, &effects) && !self.has_passed(node, &effects) => {
                self.break_after_final_changes()
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn break_after_final_changes<T>(&mut self) -> Traced<T> {
        match self.state.backward.nodes.is_empty() {
            true => unsupported("operation that may raise", "after a change of an input that gradients follow"),
            false => self.leave_backward(),
        }
    }

    /// The nodes of what is changed in a way that gradients follow, where a call changes all of these; `example` is as the only one is then,
    /// or as one of them is; none where gradients follow no such call.
    pub(crate) fn followed(
        &mut self,
        domain: &Arc<dyn Domain>,
        changed: &[ValueId],
        example: &Bound<'py, PyAny>,
    ) -> Traced<Vec<NodeId>> {
        let mut followed = Vec::new();
        for value in changed {
            let follows = match changed {
                _ if example.is_none() => false,
                [_] => domain.keeps_history(example),
                _ => domain.keeps_history(&self.example(domain, *value)?),
            };
            if follows {
                followed.push(self.graph_node(*value)?);
            }
        }
        Ok(followed)
    }

    /// Those of them that are inputs, or in their memory.
    pub(crate) fn final_changes(&self, followed: &[NodeId]) -> Vec<NodeId> {
        followed.iter().copied().filter(|changed| !self.inputs_behind(*changed).is_empty()).collect()
    }

    /// Notes such changes; breaks where the operation that makes them may raise while it does.
    pub(crate) fn keep_final_changes(
        &mut self,
        domain: &Arc<dyn Domain>,
        target: &Bound<'py, PyAny>,
        changed: &[NodeId],
    ) -> Traced<()> {
        self.state.final_changes.extend(changed.iter().copied());
        self.refuse_after_final_changes(domain, target)
    }

    /// Whether one of these is an object from outside with a history, which a change in place goes on with: what is to be done with its
    /// gradients stays with the object, where a backend would give it another history.
    pub(crate) fn goes_on_with_history(&mut self, domain: &Arc<dyn Domain>, changed: &[NodeId]) -> Traced<bool> {
        let behind: FxHashSet<_> = changed.iter().flat_map(|node| self.inputs_behind(*node)).collect();
        let inputs = self.state.inputs.iter().filter(|(node, _)| behind.contains(node));
        for value in inputs.map(|(_, value)| *value).collect::<Vec<_>>() {
            let example = self.example(domain, value)?;
            if domain.keeps_history(&example) {
                return match domain.belongs_together(self.py) {
                    true => unsupported("change that compiled code would not make", domain.name()),
                    false => Ok(true),
                };
            }
        }
        Ok(false)
    }

    pub(crate) fn effects_of(&self, node: &Node) -> Option<(Arc<dyn Domain>, NodeEffects)> {
        let domain = self.state.domains.iter().find(|domain| domain.name() == node.domain)?;
        let target = node.target.as_ref()?.bind(self.py);
        Some((Arc::clone(domain), domain.effects(target)))
    }

    /// Whether contents can make the node raise: what it takes symbolic numbers for, or indices that are tensors, or become such.
    fn may_raise(&self, node: &Node, effects: &NodeEffects) -> bool {
        let indexed = || node.name.contains("item") && node.args.get(1).is_some_and(|index| chooses(self.py, index));
        // What has one operand, and nothing else, has nothing that its sizes could not fit.
        let fits = || node.args.len() == 1 && node.kwargs.is_empty();
        effects.raises && !is_of_constants(node, effects)
            || !self.state.numbers.layouts.is_empty() && !fits()
            || indexed()
            || self.works_on_open(node)
            || !node.kwargs.is_empty() && is_division(node)
    }

    /// Whether sizes of operands may not fit, for contents decide them.
    pub(super) fn works_on_open(&self, node: &Node) -> bool {
        if node.target.as_ref().is_some_and(|target| self.works_on_numbers(target.bind(self.py))) {
            return false;
        }
        let mut operands = Vec::new();
        node.arguments().for_each(|argument| argument.nodes(&mut operands));
        let numbers = &self.state.numbers;
        operands.iter().any(|operand| numbers.open.contains(operand) && !numbers.open_floats.contains(operand))
    }

    /// The nodes whose results a node changes.
    pub(crate) fn written(&self, id: NodeId, node: &Node, effects: &NodeEffects) -> Vec<NodeId> {
        let changes = self.state.changed_by_graph.iter().filter(|change| change.by == id);
        let mut written: Vec<_> = changes.map(|change| change.operand).collect();
        if effects.draws {
            let drawn_from = node.kwargs.iter().filter(|(name, _)| name == GENERATOR);
            drawn_from.for_each(|(_, generator)| generator.nodes(&mut written));
        }
        for at in &effects.writes {
            node.args.iter().skip(*at).take(1).for_each(|argument| argument.nodes(&mut written));
        }
        written
    }

    /// The inputs that share memory with what a node gives.
    pub(crate) fn inputs_behind(&self, node: NodeId) -> Vec<NodeId> {
        self.memory_behind(node).1
    }

    /// The nodes that share memory with what a node gives, or may, and the inputs among them.
    pub(crate) fn memory_behind(&self, node: NodeId) -> (FxHashSet<NodeId>, Vec<NodeId>) {
        let (mut work, mut seen, mut found) = (vec![node], FxHashSet::default(), Vec::new());
        while let Some(id) = work.pop() {
            let Some(node) = self.state.graph.nodes.get(id.0 as usize).filter(|_| seen.insert(id)) else { continue };
            if node.op == NodeOp::Placeholder {
                found.push(id);
                continue;
            }
            work.extend(self.shares_with(id, node));
        }
        (seen, found)
    }

    /// The operands whose memory is that of what a node gives, or may be.
    pub(super) fn shares_with(&self, id: NodeId, node: &Node) -> Vec<NodeId> {
        let mut found = Vec::new();
        match self.effects_of(node).filter(|_| !self.state.copies.contains(&id)) {
            Some((_, effects)) if effects.is_unknown || node.args.is_empty() => {
                node.arguments().for_each(|argument| argument.nodes(&mut found));
            }
            Some((_, effects)) if effects.shares_first => {
                node.args.iter().take(1).for_each(|first| first.nodes(&mut found));
            }
            _ => {}
        }
        found
    }
}

/// Whether a node works on constants alone: the trace has tried it on them.
fn is_of_constants(node: &Node, effects: &NodeEffects) -> bool {
    let mut operands = Vec::new();
    node.arguments().for_each(|argument| argument.nodes(&mut operands));
    operands.is_empty() && !effects.is_unknown
}

/// Whether an index is, or has, a tensor, or a sequence of numbers: no example without contents has looked at them.
fn chooses(py: Python<'_>, index: &Argument) -> bool {
    match index {
        Argument::Tuple(parts) => parts.iter().any(|part| is_choice(py, part)),
        Argument::Constant(object) => match object.bind(py).cast::<PyTuple>() {
            Ok(parts) => parts.iter().any(|part| is_chosen_by(&part)),
            Err(_) => is_choice(py, index),
        },
        index => is_choice(py, index),
    }
}

fn is_choice(py: Python<'_>, part: &Argument) -> bool {
    match part {
        Argument::Node(_) | Argument::Tuple(_) | Argument::List(_) => true,
        Argument::Slice(parts) => parts.iter().any(|part| is_choice(py, part)),
        Argument::Constant(object) => is_chosen_by(object.bind(py)),
    }
}

/// Whether a constant is no number, slice, or mark.
fn is_chosen_by(part: &Bound<'_, PyAny>) -> bool {
    let class = part.get_type();
    !matches!(&*crate::ffi::types::c_name(&class), "int" | "bool" | "slice" | "NoneType" | "ellipsis")
}

/// A division that rounds raises where integers are divided by zero.
fn is_division(node: &Node) -> bool {
    node.name.starts_with("div")
}

fn each_generator(py: Python<'_>, argument: &Argument, found: &mut Vec<Py<PyAny>>) {
    match argument {
        Argument::Constant(object)
            if crate::ffi::types::c_name(&object.bind(py).get_type()).ends_with(".Generator") =>
        {
            found.push(object.clone_ref(py));
        }
        Argument::Tuple(items) | Argument::List(items) | Argument::Slice(items) => {
            items.iter().for_each(|item| each_generator(py, item, found))
        }
        Argument::Constant(_) | Argument::Node(_) => {}
    }
}
