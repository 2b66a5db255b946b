//! Where arrays from outside lie in memory: a number that the graph gives; where Python needs it, one that is known, which a guard reads.
//!
//! Arrays that a program keeps stay where they are. One that lies elsewhere at a later call is left to the graph from then on.
use crate::domain::{Answer, Domain, Operand, ToldByCheck};
use crate::graph::{Node, NodeId, NodeOp};
use crate::guard::Check;
use crate::guard::source::Source;
use crate::names::name;
use crate::stored::ProcessBound;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind};
use crate::trace::state::value::{Value, ValueId};
use pyo3::prelude::*;
use std::sync::Arc;

/// In the place of a source whose number must be known: all addresses must.
const ADDRESSES: u64 = u64::MAX;

impl<'py> Tracer<'py> {
    /// The address that a call gives, where an attempt has found that Python needs some.
    pub(crate) fn known_address(&mut self, domain: &Arc<dyn Domain>, answer: &Answer<'py>) -> Traced<Option<ValueId>> {
        let Answer::Node { target, args, .. } = answer else { return Ok(None) };
        let [Operand::Graph { value, .. }] = args.as_slice() else { return Ok(None) };
        if !domain.is_address(target) || !self.state.numbers.fixed.contains_key(&ADDRESSES) {
            return Ok(None);
        }
        let node = self.graph_node(*value)?;
        let Some((source, object)) = self.array_that_lies_there(domain, node) else { return Ok(None) };
        let Ok(checked) = domain.told_by_check(target, &object) else { return Ok(None) };
        if let Some(ToldByCheck { check, told }) = checked {
            self.guard(source.clone(), Check::Call(check.unbind()), "the trace used what its memory is");
            if let Some(told) = told {
                return Ok(Some(self.constant(told)));
            }
        }
        let told = object.call_method0(name!("data_ptr")).ok();
        Ok(told.map(|address| {
            self.note_bound(ProcessBound::Process);
            self.sourced(address, Source::Address(Arc::new(source)))
        }))
    }

    /// Where Python needs such a number, the trace is made again with addresses known, if that can be.
    pub(crate) fn know_addresses(&mut self, value: ValueId) -> Traced<()> {
        let Value::Node { node, .. } = self.value(value) else { return Ok(()) };
        let Some(node) = self.state.graph.nodes.get(node.0 as usize) else { return Ok(()) };
        let domain = self.state.domains.iter().find(|domain| domain.name() == node.domain).cloned();
        let (Some(domain), Some(target)) = (domain, &node.target) else { return Ok(()) };
        if !domain.is_address(target.bind(self.py)) || self.state.numbers.fixed.contains_key(&ADDRESSES) {
            return Ok(());
        }
        let mut operands = Vec::new();
        node.arguments().for_each(|argument| argument.nodes(&mut operands));
        let found = operands.first().and_then(|operand| self.array_that_lies_there(&domain, *operand));
        match found {
            Some(_) => {
                self.state.numbers.to_fix.push(ADDRESSES);
                Err(Unwind::Specialise)
            }
            None => Ok(()),
        }
    }

    /// The array from outside that lies where a node does, if it has lain there at each call so far.
    fn array_that_lies_there(&self, domain: &Arc<dyn Domain>, node: NodeId) -> Option<(Source, Bound<'py, PyAny>)> {
        let mut id = node;
        loop {
            let node = self.state.graph.nodes.get(id.0 as usize)?;
            if node.op == NodeOp::Placeholder {
                break;
            }
            if !domain.keeps_address(node.target.as_ref()?.bind(self.py), node) {
                return None;
            }
            let mut operands = Vec::new();
            node.arguments().for_each(|argument| argument.nodes(&mut operands));
            id = *operands.first()?;
        }
        let (_, value) = self.state.inputs.iter().find(|(node, _)| *node == id)?;
        // Calls that nothing is known of may have put it elsewhere.
        let keeps = |node: &Node| {
            let target = node.target.as_ref().map(|target| target.bind(self.py));
            target.is_some_and(|target| domain.keeps_address(target, node))
        };
        let is_unknown = |node: &Node| self.effects_of(node).is_some_and(|(_, effects)| effects.is_unknown);
        let moves = |node: &Node| is_unknown(node) && !keeps(node);
        if self.state.graph.nodes.iter().any(moves) {
            return None;
        }
        let Value::Real { object, source: Some(source) } = self.value(*value) else { return None };
        let object = object.bind(self.py).clone();
        let is_known = domain.address(&object).is_some();
        let key = Source::Address(Arc::new(source.clone())).key();
        (is_known && !self.state.numbers.changing.keys.contains(&key)).then(|| (source.clone(), object))
    }
}
