//! Choices among a few groups of which nearly always each is chosen: `for number in (mask.sum((-1, -2)) > 0).nonzero(): …`.
//!
//! Where Python needs how many there are, or which, the trace goes on as if all were chosen, and the graph checks that. What is computed of
//! such a choice and of constants alone is known then.
use crate::domain::{Callee, Domain};
use crate::graph::{Argument, Node, NodeId, NodeOp};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::Traced;
use crate::trace::state::value::{Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySlice, PyTuple};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Among how many is chosen at most: what is done for each is traced for each.
const MOST: i64 = 64;

/// How many nodes are computed with at most.
const MOST_NODES: usize = 64;

/// Methods that give Python's numbers.
const NUMBERS: &[&str] = &["item", "tolist", "__bool__", "__float__", "__index__", "__int__"];

/// What tells of each group whether something of it was chosen, and what compares that with none.
const OF_GROUPS: &[&str] = &["any", "sum", "count_nonzero", "bincount", "amax"];
const COMPARE: &[&str] = &["gt", "greater", "ne", "not_equal", "ge", "greater_equal"];

/// What such a choice is asked: whether all are.
const ALL: &str = "all";

/// What is known where all were chosen.
struct Whole<'py> {
    contents: Bound<'py, PyAny>,
    /// The nodes that choose.
    choices: Vec<NodeId>,
}

/// Computes with what is known.
struct Fold<'a, 'py> {
    tracer: &'a Tracer<'py>,
    known: FxHashMap<NodeId, Bound<'py, PyAny>>,
    choices: Vec<NodeId>,
}

impl<'py> Tracer<'py> {
    /// What a call that needs contents gives where all were chosen, which the graph checks; `None`: it works on nothing that is known then.
    /// `checked`: only if the graph does already.
    pub(crate) fn call_on_whole_choice(
        &mut self,
        domain: &Arc<dyn Domain>,
        callee: &Callee<'py>,
        args: &[ValueId],
        checked: bool,
    ) -> Traced<Option<ValueId>> {
        let number = args.len() == 1 && number_method(callee).is_some();
        if checked && (!number || !self.state.numbers.whole_choices) {
            return Ok(None);
        }
        let mut known = args.to_vec();
        let mut found = None;
        for arg in &mut known {
            let Value::Node { node, kind, example } = self.value(*arg) else { continue };
            let (node, kind, is_open) = (*node, kind.clone_ref(self.py), domain.is_open(example.bind(self.py)));
            if (is_open || number)
                && node == self.graph_node(*arg)?
                && let Some(whole) = self.whole_choice(node)
                && domain.claims(&whole.contents.get_type())
                && let Ok(example) = domain.example_of(&whole.contents)
                && self.are_checked(domain, &whole.choices, checked)?
            {
                *arg = self.push(Value::Node { node, kind, example: example.unbind() });
                found = Some(whole);
            }
        }
        match (found, number_method(callee).filter(|_| number)) {
            (None, _) => Ok(None),
            (Some(whole), Some(method)) => match whole.contents.call_method0(&*method) {
                Ok(number) => self.known_numbers(number).map(Some),
                Err(_) => Ok(None),
            },
            (Some(_), None) => self.call_domain(domain, again(callee), &known, &[]).map(Some),
        }
    }

    /// A number, or a new list of such, as a value.
    fn known_numbers(&mut self, numbers: Bound<'py, PyAny>) -> Traced<ValueId> {
        let Ok(list) = numbers.cast::<PyList>() else { return Ok(self.constant(numbers)) };
        let mut items = Vec::with_capacity(list.len());
        for item in list.iter() {
            let item = self.known_numbers(item)?;
            items.push(self.stored(item)?);
        }
        let list = PyList::new(self.py, items).or_else(|error| self.raise_error(error))?;
        Ok(self.own(list.into_any()))
    }

    /// What a node gives where all were chosen; `None`: it does not come of such a choice alone, or something changes it in place.
    fn whole_choice(&self, node: NodeId) -> Option<Whole<'py>> {
        let mut fold = Fold { tracer: self, known: FxHashMap::default(), choices: Vec::new() };
        let contents = fold.node(node)?;
        let Fold { known, choices, .. } = fold;
        let first = choices.iter().min()?.0 as usize;
        let mut memory: FxHashSet<NodeId> = FxHashSet::default();
        let operands = choices.iter().filter_map(|choice| self.choice_of(*choice));
        known.keys().copied().chain(operands).for_each(|node| memory.extend(self.memory_behind(node).0));
        let is_changed = self.state.graph.nodes.iter().enumerate().skip(first).any(|(index, node)| {
            let Some((_, effects)) = self.effects_of(node) else { return false };
            let mut written = self.written(NodeId(index as u32), node, &effects);
            if effects.is_unknown {
                node.arguments().for_each(|argument| argument.nodes(&mut written));
            }
            written.into_iter().any(|node| self.memory_behind(node).0.iter().any(|node| memory.contains(node)))
        });
        (!is_changed).then_some(Whole { contents, choices })
    }

    /// What is chosen from.
    fn choice_of(&self, choice: NodeId) -> Option<NodeId> {
        match self.state.graph.nodes.get(choice.0 as usize)?.args.first()? {
            Argument::Node(operand) => Some(*operand),
            _ => None,
        }
    }

    /// Whether the graph checks that all were chosen; it does so from now on, unless nothing more may be guessed.
    fn are_checked(&mut self, domain: &Arc<dyn Domain>, choices: &[NodeId], checked: bool) -> Traced<bool> {
        for choice in choices {
            let Some(operand) = self.choice_of(*choice) else { return Ok(false) };
            if self.is_checked_choice(operand) {
                continue;
            }
            let failed = self.state.function_caches.failed_guesses(self.py);
            let may = !checked && failed.is_empty() && self.may_guess() && self.is_of_groups(operand);
            let Some(operand) = self.value_given_by(operand).filter(|_| may) else { return Ok(false) };
            let all = self.call_domain(domain, Callee::Method(ALL.to_owned()), &[operand], &[])?;
            let Some(truth) = self.truth_of_contents(all)?.filter(|truth| self.is_unread(*truth)) else {
                return Ok(false);
            };
            if self.check_guess(truth, true, &failed)?.is_none() {
                return Ok(false);
            }
            self.state.numbers.whole_choices = true;
        }
        Ok(true)
    }

    pub(super) fn value_given_by(&self, node: NodeId) -> Option<ValueId> {
        let is = |value: &Value| matches!(value, Value::Node { node: known, .. } if *known == node);
        self.state.values.iter().position(is).map(|index| ValueId(index as u32))
    }

    /// Whether a node checks that all of what another gives count.
    fn is_checked_choice(&self, operand: NodeId) -> bool {
        let node_of = |argument: Option<&Argument>| match argument {
            Some(Argument::Node(node)) => self.state.graph.nodes.get(node.0 as usize),
            _ => None,
        };
        self.state.graph.nodes.iter().filter(|node| self.is_guess(node)).any(|check| {
            let is_true = matches!(check.args.get(1), Some(Argument::Constant(truth)) if truth.bind(self.py).is_truthy().unwrap_or(false));
            let all = node_of(check.args.first()).and_then(|truth| node_of(truth.args.first()));
            all.is_some_and(|all| {
                let is_operand = matches!(all.args.as_slice(), [Argument::Node(node)] if *node == operand);
                is_true && is_operand && all.kwargs.is_empty() && self.operation_of(all) == ALL
            })
        })
    }

    fn operation_of(&self, node: &Node) -> String {
        let name = node.target.as_ref().map(|target| crate::ffi::callee::name_of(target.bind(self.py)).into_owned());
        name.unwrap_or_default().trim_matches('_').to_owned()
    }

    /// Whether a node tells of each group whether something of it was chosen.
    fn is_of_groups(&self, node: NodeId) -> bool {
        let Some(node) = self.state.graph.nodes.get(node.0 as usize).filter(|node| node.op == NodeOp::CallFunction)
        else {
            return false;
        };
        let name = self.operation_of(node);
        let is_bound = |bound: &Py<PyAny>| {
            bound.bind(self.py).eq(0).unwrap_or(false) || bound.bind(self.py).eq(1).unwrap_or(false)
        };
        match node.args.as_slice() {
            _ if OF_GROUPS.contains(&&*name) => true,
            [Argument::Node(groups), Argument::Constant(bound)] if COMPARE.contains(&&*name) => {
                is_bound(bound) && self.is_of_groups(*groups)
            }
            _ => false,
        }
    }
}

impl<'py> Fold<'_, 'py> {
    fn node(&mut self, id: NodeId) -> Option<Bound<'py, PyAny>> {
        if let Some(known) = self.known.get(&id) {
            return Some(known.clone());
        }
        let tracer = self.tracer;
        let node = tracer.state.graph.nodes.get(id.0 as usize).filter(|node| node.op == NodeOp::CallFunction)?;
        let (domain, effects) = tracer.effects_of(node)?;
        let acts = effects.is_unknown
            || effects.draws
            || effects.nests
            || effects.checks
            || !effects.writes.is_empty()
            || tracer.state.dropped_nodes.contains(&id)
            || tracer.state.changed_by_graph.iter().any(|change| change.by == id);
        if acts || self.known.len() >= MOST_NODES {
            return None;
        }
        let target = node.target.as_ref()?.bind(tracer.py);
        let made = match self.choice(&*domain, node, target) {
            Some(made) => {
                self.choices.push(id);
                made
            }
            None => {
                let args = self.all(&node.args)?;
                let kwargs = self.named(&node.kwargs)?;
                domain.computed(target, &PyTuple::new(tracer.py, args).ok()?, &kwargs)?
            }
        };
        self.known.insert(id, made.clone());
        Some(made)
    }

    /// What a node gives that chooses, where all are chosen.
    fn choice(&mut self, domain: &dyn Domain, node: &Node, target: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
        let [Argument::Node(operand)] = node.args.as_slice() else { return None };
        let value = self.tracer.value_given_by(*operand)?;
        let Value::Node { example, .. } = self.tracer.value(value) else { return None };
        let example = example.bind(self.tracer.py);
        if domain.is_open(example) || self.tracer.state.numbers.layouts.contains_key(&value) {
            return None;
        }
        let layout = domain.layout_of(example)?;
        let [count] = *layout.sizes else { return None };
        let kwargs = self.named(&node.kwargs)?;
        if !(1..=MOST).contains(&count) {
            return None;
        }
        domain.all_chosen(target, count, &kwargs)
    }

    fn all(&mut self, arguments: &[Argument]) -> Option<Vec<Bound<'py, PyAny>>> {
        arguments.iter().map(|argument| self.argument(argument)).collect()
    }

    fn named(&mut self, arguments: &[(String, Argument)]) -> Option<Bound<'py, PyDict>> {
        let named = PyDict::new(self.tracer.py);
        for (name, argument) in arguments {
            named.set_item(name, self.argument(argument)?).ok()?;
        }
        Some(named)
    }

    fn argument(&mut self, argument: &Argument) -> Option<Bound<'py, PyAny>> {
        let py = self.tracer.py;
        Some(match argument {
            Argument::Node(node) => self.node(*node)?,
            Argument::Constant(constant) => constant.bind(py).clone(),
            Argument::Tuple(items) => PyTuple::new(py, self.all(items)?).ok()?.into_any(),
            Argument::List(items) => PyList::new(py, self.all(items)?).ok()?.into_any(),
            Argument::Slice(parts) => {
                let [start, stop, step] = self.all(parts)?.try_into().ok()?;
                py.get_type::<PySlice>().call1((start, stop, step)).ok()?
            }
        })
    }
}

/// The method that gives what a call gives, if that is a number or a list of numbers.
fn number_method(callee: &Callee<'_>) -> Option<String> {
    let method = match callee {
        Callee::Slot(slot) => format!("__{}__", slot.strip_prefix("nb_")?),
        Callee::Method(name) => name.clone(),
        Callee::Function(function) => crate::ffi::callee::name_of(function).into_owned(),
        Callee::GetAttr(_) => return None,
    };
    NUMBERS.contains(&&*method).then_some(method)
}

fn again<'py>(callee: &Callee<'py>) -> Callee<'py> {
    match callee {
        Callee::Slot(slot) => Callee::Slot(slot),
        Callee::Function(function) => Callee::Function(function.clone()),
        Callee::Method(name) => Callee::Method(name.clone()),
        Callee::GetAttr(name) => Callee::GetAttr(name.clone()),
    }
}
