//! Symbolic numbers in the graph: inputs, and the operations on them.
use crate::domain::Operand;
use crate::ffi::callee;
use crate::ffi::snapshot::original;
use crate::graph::{Argument, ForBackend, InputSize, Node, NodeId, NodeOp};
use crate::symbol::{Formula, Number, Operation, SymbolicLayout};
use crate::trace::state::computed_number::Computation;
use crate::trace::state::numbers::TakenNumbers;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, unsupported};
use crate::trace::state::value::{New, Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::PyFloat;
use std::sync::Arc;

impl<'py> Tracer<'py> {
    /// A symbolic number as an operand of a domain that takes such.
    pub(crate) fn number_operand(&mut self, value: ValueId, taken: TakenNumbers) -> Traced<Option<Operand<'py>>> {
        if taken == TakenNumbers::None || !self.is_symbolic(value) {
            return Ok(None);
        }
        let numeral = self.numeral(value)?;
        let is_float = numeral.as_ref().is_some_and(|numeral| numeral.hint.is_exact_instance_of::<PyFloat>());
        // Backends compile floats as constants: such a call runs between the parts that they compile, where it may.
        let stays_together = || self.state.domains.iter().any(|domain| domain.belongs_together(self.py));
        let takes_floats = match taken {
            TakenNumbers::All | TakenNumbers::Floats | TakenNumbers::Ruled | TakenNumbers::Asked => {
                !self.state.backend || self.state.numbers.becomes_tensor || !stays_together()
            }
            TakenNumbers::Classes => true,
            TakenNumbers::None | TakenNumbers::Integers | TakenNumbers::OpenIntegers => false,
        };
        let is_taken = if is_float { takes_floats } else { taken != TakenNumbers::Floats };
        if !is_taken {
            return Ok(None);
        }
        Ok(numeral.map(|numeral| Operand::Number { value, hint: numeral.hint, expression: numeral.expression }))
    }

    /// Keeps the layout of what an operation gives, where some of it is symbolic.
    pub(crate) fn keep_layout(&mut self, made: ValueId, layout: Option<SymbolicLayout>) {
        let Some(layout) = layout else { return };
        let mut parts = layout.sizes.iter().chain(&layout.strides);
        if parts.any(|part| self.state.numbers.expressions.known(*part).is_none()) {
            self.state.numbers.layouts.insert(made, Arc::new(layout));
        }
    }

    /// What a backend is told of an input: its sizes where some are symbolic, or which number it is.
    pub(crate) fn sizes_of_input(&self, value: ValueId) -> Option<Box<[InputSize]>> {
        let numbers = &self.state.numbers;
        if let Some(layout) = numbers.layouts.get(&value) {
            let sizes = layout.sizes.iter().map(|size| match numbers.expressions.known(*size) {
                Some(Number::Integer(size)) => InputSize::Known(size),
                _ => InputSize::Symbol(Formula::new(&numbers.expressions, *size).text().to_owned()),
            });
            return Some(sizes.collect());
        }
        if !self.is_symbolic(value) {
            return None;
        }
        let symbol = numbers.symbols.get(&self.source(value)?)?;
        Some([InputSize::Symbol(format!("s{}", symbol.0))].into())
    }

    /// The input of the graph that is the same number from outside.
    pub(crate) fn input_with_source(&self, value: ValueId) -> Option<NodeId> {
        let Value::Real { source: Some(source), .. } = self.value(value) else { return None };
        let is_same =
            |input: &ValueId| matches!(self.value(*input), Value::Real { source: Some(other), .. } if other == source);
        self.state.inputs.iter().find(|(_, input)| is_same(input)).map(|(node, _)| *node)
    }

    /// What the graph calls for an operation. `int` wants to know the number: backends get what has an answer for symbols, too.
    fn number_function_of(&self, computation: Computation) -> Traced<Bound<'py, PyAny>> {
        if computation == Computation::Operation(Operation::Truncate)
            && self.state.backend
            && let Ok(truncate) = original(self.py, "math", "trunc")
            && callee::module_of(&truncate) == "math"
        {
            return Ok(truncate);
        }
        let (module, name) = computation.function();
        self.import(module, name)
    }

    /// The symbolic number that a node computes.
    pub(crate) fn number_of_node(&self, node: NodeId) -> Option<ValueId> {
        self.state.numbers.nodes.iter().find(|(_, known)| **known == node).map(|(value, _)| *value)
    }

    /// The node that computes a number.
    pub(crate) fn number_node(&mut self, value: ValueId) -> Traced<NodeId> {
        if let Some(node) = self.state.numbers.nodes.get(&value) {
            return Ok(*node);
        }
        let Value::New(New::Computed(computed)) = self.value(value) else {
            return unsupported("number that the graph cannot compute", "argument");
        };
        if let Some(node) = computed.expression.and_then(|expression| self.state.numbers.nodes_of.get(&expression)) {
            return Ok(*node);
        }
        let (computation, operands, expression) =
            (computed.computation, computed.operands.clone(), computed.expression);
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
        let target = self.number_function_of(computation)?;
        let node = self.node(Node {
            name: computation.function().1.to_owned(),
            op: NodeOp::CallFunction,
            target: Some(target.unbind()),
            args,
            kwargs: Vec::new(),
            meta,
            domain: "",
            sizes: None,
            origin: self.origin(),
            backend: ForBackend::default(),
        });
        self.state.numbers.nodes.insert(value, node);
        if let Some(expression) = expression {
            self.state.numbers.nodes_of.insert(expression, node);
        }
        Ok(node)
    }
}
