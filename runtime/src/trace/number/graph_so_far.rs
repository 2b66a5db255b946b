//! The graph so far, with what is symbolic of it, for a domain that runs it beside the trace.
use crate::domain::{Answer, AnsweredOperation, Callee, Domain, GraphOfSizes, SizedCall, SizedNode};
use crate::graph::{Argument, NodeId, NodeOp};
use crate::symbol::Kind;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::Traced;
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::PyInt;
use std::cell::RefCell;

impl<'py> Tracer<'py> {
    /// Whether sizes that are symbolic may decide what an operation gives though none of its operands shows one.
    pub(crate) fn hides_sizes(&self, domain: &dyn Domain, callee: &Callee<'py>, answer: &Answer<'py>) -> bool {
        !self.state.numbers.layouts.is_empty()
            && matches!(answer, Answer::Node { .. } | Answer::Parts { .. } | Answer::Change { .. })
            && domain.asks_graph_for_sizes(self.py, callee)
    }

    /// The graph so far, for an operation of which the domain wants to know it.
    pub(super) fn graph_of_sizes(
        &mut self,
        domain: &dyn Domain,
        operation: &AnsweredOperation<'_, 'py>,
    ) -> Traced<Option<GraphOfSizes<'py>>> {
        let (Answer::Node { target, args, kwargs, .. }
        | Answer::Parts { target, args, kwargs, .. }
        | Answer::Change { target, args, kwargs, .. }) = operation.answer
        else {
            return Ok(None);
        };
        if !domain.asks_graph_for_sizes(self.py, operation.callee) {
            return Ok(None);
        }
        // Inputs and numbers become nodes.
        let args = args.iter().map(|arg| self.argument(arg)).collect::<Traced<_>>()?;
        let named = kwargs.iter().map(|(name, value)| Ok((name.clone(), self.argument(value)?)));
        let call = SizedCall { target: target.clone(), args, kwargs: named.collect::<Traced<_>>()?, is_mode: false };
        let first = if self.state.numbers.graph.is_some() { self.state.numbers.graph_nodes } else { 0 };
        let count = self.state.graph.nodes.len();
        let nodes = (first..count).map(|index| self.sized_node(domain, NodeId(index as u32))).collect::<Traced<_>>()?;
        self.state.numbers.graph_nodes = count;
        let kept = RefCell::new(self.state.numbers.graph.take());
        Ok(Some(GraphOfSizes { kept, nodes, call }))
    }

    fn sized_node(&mut self, domain: &dyn Domain, id: NodeId) -> Traced<SizedNode<'py>> {
        if self.state.dropped_nodes.contains(&id) || self.state.numbers.open.contains(&id) {
            return Ok(SizedNode::Other);
        }
        let node = &self.state.graph.nodes[id.0 as usize];
        match (node.op, &node.target) {
            (NodeOp::Placeholder, _) => {
                let input = self.state.inputs.iter().find(|(input, _)| *input == id).map(|(_, value)| *value);
                let Some(value) = input else { return Ok(SizedNode::Other) };
                if self.is_symbolic(value) {
                    return self.sized_number(value);
                }
                let class = self.class_of(value)?;
                let Some(domain) = self.domain_of(&class) else { return Ok(SizedNode::Other) };
                let example = self.example(&domain, value)?;
                Ok(SizedNode::Input(example, self.state.numbers.layouts.get(&value).cloned()))
            }
            (NodeOp::CallFunction, Some(target)) if node.domain == domain.name() => Ok(SizedNode::Call(SizedCall {
                target: target.bind(self.py).clone(),
                args: node.args.iter().map(|arg| copied(self.py, arg)).collect(),
                kwargs: node.kwargs.iter().map(|(name, arg)| (name.clone(), copied(self.py, arg))).collect(),
                is_mode: self.state.numbers.modes.contains(&id),
            })),
            (NodeOp::CallFunction, _) if node.domain.is_empty() => match self.number_of_node(id) {
                Some(value) => self.sized_number(value),
                None => Ok(SizedNode::Other),
            },
            _ => Ok(SizedNode::Other),
        }
    }

    fn sized_number(&mut self, value: ValueId) -> Traced<SizedNode<'py>> {
        let Some(numeral) = self.numeral(value)? else { return Ok(SizedNode::Other) };
        let is_size = |expression| self.state.numbers.expressions.kind(expression) == Kind::Integer;
        Ok(match numeral.expression {
            Some(expression) if is_size(expression) => SizedNode::Number(expression),
            None if numeral.hint.is_exact_instance_of::<PyInt>() => SizedNode::Other,
            _ => SizedNode::Contents(numeral.hint),
        })
    }
}

fn copied(py: Python<'_>, argument: &Argument) -> Argument {
    let all = |items: &[Argument]| items.iter().map(|item| copied(py, item)).collect();
    match argument {
        Argument::Node(node) => Argument::Node(*node),
        Argument::Constant(constant) => Argument::Constant(constant.clone_ref(py)),
        Argument::Tuple(items) => Argument::Tuple(all(items)),
        Argument::List(items) => Argument::List(all(items)),
        Argument::Slice(parts) => Argument::Slice(all(parts)),
    }
}
