//! Floats that are others at each call, in graphs that a backend gets: it would compile them as constants, so an operation gets a tensor without
//! dimensions in the place of such a float, where that computes the same.
use crate::domain::{Callee, Domain, Operand};
use crate::graph::ForBackend;
use crate::trace::state::numbers::TakenNumbers;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::Traced;
use crate::trace::state::value::{New, Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::PyFloat;
use std::sync::Arc;

impl<'py> Tracer<'py> {
    /// The arguments of an operation on a tensor and a float with a tensor in the place of that; `None`: they stay as they are.
    pub(crate) fn with_scalar_tensor(
        &mut self,
        domain: &Arc<dyn Domain>,
        callee: &Callee<'py>,
        args: &[ValueId],
    ) -> Traced<Option<[ValueId; 2]>> {
        let [tensor, number] = *args else { return Ok(None) };
        // What functions record that are made graphs of their own is compiled as a whole.
        let compiles_all = self.state.rehearsals > 0 || domain.belongs_together(self.py);
        if !self.state.backend || compiles_all || !self.is_symbolic(number) || !self.is_of_floats(number) {
            return Ok(None);
        }
        let Operand::Graph { example, .. } = self.operand_of(tensor, TakenNumbers::None)? else { return Ok(None) };
        let Some((function, keywords)) = domain.scalar_tensor(callee, &example) else { return Ok(None) };
        let keywords: Vec<_> = keywords.into_iter().map(|(name, value)| (name, self.constant(value))).collect();
        self.state.numbers.becomes_tensor = true;
        let scalar = self.call_domain(domain, Callee::Function(function), &[number], &keywords);
        self.state.numbers.becomes_tensor = false;
        let scalar = scalar?;
        let node = self.graph_node(scalar)?;
        self.state.graph.nodes[node.0 as usize].backend = ForBackend::LeavesAlone;
        Ok(Some([tensor, scalar]))
    }

    /// Whether a symbolic number is a float, or computed from such alone: sizes stay sizes.
    fn is_of_floats(&self, value: ValueId) -> bool {
        match self.value(value) {
            Value::Real { object, .. } => object.bind(self.py).is_exact_instance_of::<PyFloat>(),
            Value::New(New::Computed(computed)) => {
                computed.hint.bind(self.py).is_exact_instance_of::<PyFloat>()
                    && computed
                        .operands
                        .iter()
                        .all(|operand| !self.is_symbolic(*operand) || self.is_of_floats(*operand))
            }
            _ => false,
        }
    }
}
