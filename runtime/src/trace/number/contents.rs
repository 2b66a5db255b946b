//! Numbers that arrays hold, by numbers that they held before the graph: guards look at these, so that a trace knows what it may do with numbers
//! which the graph gives.
use super::inputs::Numeral;
use crate::domain::{Domain, HeldNumber, Operand};
use crate::graph::{NodeId, NodeOp};
use crate::guard::number;
use crate::guard::source::Source;
use crate::symbol::{ExpressionId, Kind, Number, Relation, Symbol};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::Traced;
use crate::trace::state::value::{Value, ValueId};
use crate::trace::value::inputs_in_memory::InputsInMemory;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt};
use std::sync::Arc;

/// What calls leave in arrays that they change: the nodes whose memory that is, and the numbers.
pub(crate) type Changed = Vec<(NodeId, Option<ExpressionId>)>;

const READS: &str = "the trace computes with the number that an array holds";

impl<'py> Tracer<'py> {
    /// Notes the number that a call gives, or holds in what it gives.
    pub(crate) fn note_held(
        &mut self,
        domain: &Arc<dyn Domain>,
        (target, args, kwargs): (&Bound<'py, PyAny>, &[Operand<'py>], &[(String, Operand<'py>)]),
        made: ValueId,
    ) {
        let Value::Node { node, example, .. } = self.value(made) else { return };
        let (node, example) = (*node, example.bind(self.py).clone());
        let is_number = self.is_unread_float(made);
        if !is_number && !domain.is_float(&example) {
            return;
        }
        let held = domain.numbers_held_after(target, args, kwargs, &example);
        let Some([held]) = held.as_deref() else { return };
        let Some(expression) = self.number_held(domain, held) else { return };
        match is_number {
            true => self.expect(node, expression),
            false => drop(self.state.numbers.held.insert(node, Some(expression))),
        }
    }

    /// Notes what a number that the graph reads will be. A guard says that it is no NaN.
    fn expect(&mut self, node: NodeId, expression: ExpressionId) {
        let is_known = self.state.numbers.expressions.known(expression).is_some();
        if is_known || self.relation_truth(Relation::fits(expression), READS) == Some(true) {
            self.state.numbers.expected.insert(node, expression);
        }
    }

    /// What a call leaves in what it is about to change.
    pub(crate) fn held_after_change(
        &mut self,
        domain: &Arc<dyn Domain>,
        (target, args, kwargs): (&Bound<'py, PyAny>, &[Operand<'py>], &[(String, Operand<'py>)]),
        example: &Bound<'py, PyAny>,
        changes: &[ValueId],
    ) -> Traced<Changed> {
        let (mut changed, mut rules) = (Vec::new(), None);
        for (index, value) in changes.iter().enumerate() {
            let (held, node) = (self.example(domain, *value)?, self.graph_node(*value)?);
            if domain.is_float(&held) {
                let rules =
                    rules.get_or_insert_with(|| domain.numbers_held_after(target, args, kwargs, example)).as_ref();
                let rule =
                    rules.filter(|rules| rules.len() == changes.len()).and_then(|rules| rules.get(index)).cloned();
                match self.memory_of(node) {
                    Some(memory) => {
                        let left = rule.and_then(|rule| self.number_held(domain, &rule));
                        changed.push((memory, left));
                    }
                    None => changed.extend(self.memory_behind(node).0.into_iter().map(|node| (node, None))),
                }
            } else if domain.may_be_one_number(&held) {
                changed.extend(self.memory_behind(node).0.into_iter().map(|node| (node, None)));
            }
        }
        Ok(changed)
    }

    /// Notes what calls have left.
    pub(crate) fn note_changed(&mut self, changed: Changed) {
        if !changed.is_empty() {
            self.state.numbers.held.extend(changed);
        }
    }

    fn number_held(&mut self, domain: &Arc<dyn Domain>, number: &HeldNumber<'py>) -> Option<ExpressionId> {
        match number {
            HeldNumber::Known(known) => Some(self.state.numbers.expressions.constant(Number::Float(*known))),
            HeldNumber::Applied(operation, parts) => {
                let parts =
                    parts.iter().map(|part| self.number_held(domain, part)).collect::<Option<Vec<ExpressionId>>>()?;
                self.state.numbers.expressions.apply(*operation, &parts)
            }
            HeldNumber::Of(operand) => self.number_of_operand(domain, operand),
        }
    }

    fn number_of_operand(&mut self, domain: &Arc<dyn Domain>, operand: &Operand<'py>) -> Option<ExpressionId> {
        match operand {
            Operand::Known(known) => number(known).map(|known| self.state.numbers.expressions.constant(known)),
            Operand::Number { expression, .. } => *expression,
            Operand::Graph { value, .. } if self.is_unread(*value) => self.expectation(*value),
            Operand::Graph { value, example, .. } if domain.is_float(example) => {
                let memory = self.graph_node(*value).ok().and_then(|node| self.memory_of(node))?;
                match self.state.numbers.held.get(&memory) {
                    Some(held) => *held,
                    None => self.held_from_outside(domain, memory),
                }
            }
            _ => None,
        }
    }

    /// What an input holds when the graph begins.
    fn held_from_outside(&mut self, domain: &Arc<dyn Domain>, input: NodeId) -> Option<ExpressionId> {
        if self.state.numbers.left_open == Some(0) || self.state.rehearsals > 0 || self.may_change_unseen() {
            return None;
        }
        let (_, value) = self.state.inputs.iter().find(|(node, _)| *node == input)?;
        let Value::Real { object, source: Some(source) } = self.value(*value) else { return None };
        let hint = domain.held_number(object.bind(self.py)).filter(|hint| !hint.is_nan())?;
        let source = Source::Contents(Arc::new(source.clone()));
        let numbers = &mut self.state.numbers;
        numbers.looked_at.insert(input);
        let symbol = numbers.symbols.get(&source).copied().unwrap_or_else(|| {
            let symbol = Symbol(numbers.inputs.len() as u32);
            numbers.inputs.push((source.clone(), Number::Float(hint)));
            numbers.symbols.insert(source, symbol);
            symbol
        });
        Some(numbers.expressions.input(symbol, Kind::Float))
    }

    /// Whether the graph calls something that may change contents without being told to: code of the program, for one.
    fn may_change_unseen(&mut self) -> bool {
        let nodes = &self.state.graph.nodes;
        let first = self.state.numbers.searched.min(nodes.len());
        let is_made = |node: NodeId| nodes.get(node.0 as usize).is_some_and(|node| node.op != NodeOp::Placeholder);
        let found = nodes[first..].iter().filter(|node| node.op == NodeOp::CallFunction).any(|node| {
            let Some((_, effects)) = self.effects_of(node) else { return false };
            let mut written = Vec::new();
            let places = effects.writes.iter().filter_map(|place| node.args.get(*place));
            places.for_each(|argument| argument.nodes(&mut written));
            effects.is_unknown && !effects.keeps_contents || written.into_iter().any(is_made)
        });
        self.state.numbers.searched = nodes.len();
        self.state.numbers.may_change_unseen |= found;
        self.state.numbers.may_change_unseen
    }

    /// The node that gives the memory of an array, which nothing but its views lies in; `None`: that is not known.
    fn memory_of(&self, node: NodeId) -> Option<NodeId> {
        let mut id = node;
        loop {
            let node = self.state.graph.nodes.get(id.0 as usize)?;
            let is_own = self.state.numbers.held.contains_key(&id) || self.state.copies.contains(&id);
            if is_own || node.op == NodeOp::Placeholder {
                return Some(id);
            }
            let (_, effects) = self.effects_of(node)?;
            let mut first = Vec::new();
            node.args.iter().take(1).for_each(|first_one| first_one.nodes(&mut first));
            id = match (effects.is_unknown, effects.shares_first, first.as_slice()) {
                (false, false, _) => return Some(id),
                (false, true, [only]) => *only,
                _ => return None,
            };
        }
    }

    /// What a number of the graph will be.
    pub(super) fn expectation(&self, value: ValueId) -> Option<ExpressionId> {
        let Value::Node { node, .. } = self.value(value) else { return None };
        self.state.numbers.expected.get(node).copied()
    }

    /// Whether it is a number of the graph of which something tells what it will be.
    pub(crate) fn is_expected(&self, value: ValueId) -> bool {
        self.expectation(value).is_some()
    }

    /// The value as an operand, if it is a number that is known or expected.
    pub(super) fn expected_numeral(&mut self, value: ValueId) -> Traced<Option<Numeral<'py>>> {
        if !self.is_unread(value) {
            return self.numeral(value);
        }
        let Some(expression) = self.expectation(value) else { return Ok(None) };
        let Some(hint) = self.state.numbers.hint(expression) else { return Ok(None) };
        let hint = match hint {
            Number::Float(hint) => PyFloat::new(self.py, hint).into_any(),
            Number::Integer(hint) => PyInt::new(self.py, hint).into_any(),
        };
        Ok(Some(Numeral { hint, expression: Some(expression), symbolic: true }))
    }

    /// The truth of what contents decide, where a guard can say it, in a function that keeps what it counts.
    pub(super) fn expected_truth(&mut self, value: ValueId) -> Option<bool> {
        let Value::Node { node, .. } = self.value(value) else { return None };
        let node = *node;
        let place = self.state.places.last()?.function.bind(self.py).clone();
        if !self.state.domains.iter().any(|domain| domain.keeps_state(&place)) {
            return None;
        }
        let relation = self.state.numbers.expected_truths.get(&node).copied()?;
        self.relation_truth(relation, "the trace branched on what an array holds")
    }

    /// Guards that nothing else in the graph lies where the arrays do at whose contents guards look; the trace is made again where something does.
    pub(crate) fn guard_contents(&mut self) -> Traced<()> {
        if self.state.numbers.looked_at.is_empty() {
            return Ok(());
        }
        let looked_at = |node| self.state.numbers.looked_at.contains(&node);
        let InputsInMemory { objects, sources, are_marked: looked_at } = self.inputs_in_memory(looked_at);
        let Some(domain) = objects.first().and_then(|object| self.domain_of(&object.get_type())) else { return Ok(()) };
        if objects.len() < 2 {
            return Ok(());
        }
        let open = !self.state.numbers.layouts.is_empty();
        match domain.memory_guard(&objects, &looked_at, open) {
            Some(check) if !domain.share_memory(&objects, &looked_at) => {
                let why = "nothing else changes what an array holds";
                self.guard(Source::Together(sources.into()), crate::guard::Check::Domain(check), why);
                Ok(())
            }
            _ => self.close_open(),
        }
    }
}
