//! Symbolic numbers in the graph: inputs, and the operations on them.
use crate::graph::{Argument, Node, NodeId, NodeOp};
use crate::symbol::Operation;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, unsupported};
use crate::trace::state::value::{New, Value, ValueId};
use pyo3::prelude::*;

impl<'py> Tracer<'py> {
    /// The number in this call.
    pub(crate) fn number_hint(&self, value: ValueId) -> Option<Bound<'py, PyAny>> {
        match self.value(value) {
            Value::New(New::Computed(computed)) => Some(computed.hint.bind(self.py).clone()),
            _ => self.real(value),
        }
    }

    /// The node that computes a number.
    pub(crate) fn number_node(&mut self, value: ValueId) -> Traced<NodeId> {
        if let Some(node) = self.state.numbers.nodes.get(&value) {
            return Ok(*node);
        }
        let Value::New(New::Computed(computed)) = self.value(value) else {
            return unsupported("number that the graph cannot compute", "argument");
        };
        let (operation, operands) = (computed.operation, computed.operands.clone());
        let meta = crate::ffi::types::name(&computed.hint.bind(self.py).get_type());
        let mut args = Vec::with_capacity(operands.len());
        for operand in operands {
            args.push(match self.is_symbolic(operand) {
                true => Argument::Node(self.graph_node(operand)?),
                false => match self.known(operand) {
                    Some(known) => Argument::Constant(known.unbind()),
                    None => return unsupported("number that the graph cannot compute", "operand"),
                },
            });
        }
        let module = if operation == Operation::ToFloat { "builtins" } else { "operator" };
        let target = self.import(module, operation.name())?;
        let node = self.node(Node {
            name: operation.name().to_owned(),
            op: NodeOp::CallFunction,
            target: Some(target.unbind()),
            args,
            kwargs: Vec::new(),
            meta,
            domain: "",
            origin: self.origin(),
        });
        self.state.numbers.nodes.insert(value, node);
        Ok(node)
    }
}
