//! Floats that are others at each call, in graphs that a backend gets: it would compile them as constants, so an operation gets a tensor without
//! dimensions in the place of such a float, where that computes the same.
use crate::domain::{Callee, Domain, Operand};
use crate::graph::ForBackend;
use crate::symbol::{Comparison, Number};
use crate::trace::state::numbers::TakenNumbers;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::Traced;
use crate::trace::state::value::{New, Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt};
use std::sync::Arc;

/// The greatest number of the smallest class of floats.
const FITS_ALL: f64 = 57344.0;

impl<'py> Tracer<'py> {
    /// The arguments of an operation on a tensor and floats with tensors in the places of these; `None`: they stay as they are.
    pub(crate) fn with_scalar_tensors(
        &mut self,
        domain: &Arc<dyn Domain>,
        callee: &Callee<'py>,
        args: &[ValueId],
    ) -> Traced<Option<Vec<ValueId>>> {
        // What functions record that are made graphs of their own is compiled as a whole.
        if !self.state.backend || self.state.rehearsals > 0 || self.runs_as_recorded() {
            return Ok(None);
        }
        let places = domain.scalar_places(callee);
        let Some(array) = places.iter().find(|place| {
            args.get(place.number).is_some_and(|number| self.is_symbolic(*number) && self.is_float(*number))
        }) else {
            return Ok(None);
        };
        let Some(tensor) = args.get(array.array) else { return Ok(None) };
        let Operand::Graph { example, .. } = self.operand_of(*tensor, TakenNumbers::None)? else { return Ok(None) };
        let Some((function, keywords)) = domain.scalar_tensor(callee, &example) else { return Ok(None) };
        let mut made = args.to_vec();
        // Those beside it are tensors with it, or all stay numbers.
        let mut numbers = Vec::new();
        for place in places.iter().filter(|place| place.array == array.array) {
            let Some(number) = args.get(place.number).copied() else { continue };
            if self.is_none(number)? {
                continue;
            }
            let is_number = self.is_float(number) || !self.is_symbolic(number) && self.is_integer(number);
            if !is_number || place.checks_size && !self.is_small(number)? {
                return Ok(None);
            }
            numbers.push(place.number);
        }
        let keywords: Vec<_> = keywords.into_iter().map(|(name, value)| (name, self.constant(value))).collect();
        for number in numbers {
            let value = made[number];
            self.state.numbers.becomes_tensor = true;
            let scalar = self.call_domain(domain, Callee::Function(function.clone()), &[value], &keywords);
            self.state.numbers.becomes_tensor = false;
            made[number] = scalar?;
            self.make_early(made[number])?;
        }
        Ok(Some(made))
    }

    /// Whether what an operation makes of a number alone is made before what a backend compiles: the number is another one at each call.
    pub(crate) fn is_made_early(
        &self,
        domain: &Arc<dyn Domain>,
        args: &[ValueId],
        keywords: &[(String, ValueId)],
    ) -> bool {
        let [number] = args else { return false };
        self.state.backend
            && self.state.rehearsals == 0
            && self.is_symbolic(*number)
            && !self.is_unread(*number)
            && keywords.iter().all(|(name, _)| name == "dtype" || name == "device")
            && !domain.belongs_together(self.py)
            && !self.has_taking_modes()
    }

    /// The operands that values are; `is_early`: floats among them are none that a backend gets.
    pub(crate) fn operands_made_early(
        &mut self,
        args: &[ValueId],
        numbers: TakenNumbers,
        is_early: bool,
    ) -> Traced<Vec<Operand<'py>>> {
        let outer = self.state.numbers.becomes_tensor;
        self.state.numbers.becomes_tensor = outer || is_early;
        let operands = self.operands_of(args, numbers);
        self.state.numbers.becomes_tensor = outer;
        operands
    }

    /// Has the graph make the tensor before what a backend compiles.
    pub(crate) fn make_early(&mut self, tensor: ValueId) -> Traced<()> {
        let node = self.graph_node(tensor)?;
        self.state.graph.nodes[node.0 as usize].backend = ForBackend::LeavesAlone;
        Ok(())
    }

    /// Whether the number fits every class of floats, at each call.
    fn is_small(&mut self, value: ValueId) -> Traced<bool> {
        let Some(number) = self.numeral(value)? else { return Ok(false) };
        Ok(self.compares_with(&number, Comparison::LessOrEqual, Number::Float(FITS_ALL))
            && self.compares_with(&number, Comparison::GreaterOrEqual, Number::Float(-FITS_ALL)))
    }

    fn is_float(&self, value: ValueId) -> bool {
        self.hint(value).is_some_and(|hint| hint.is_exact_instance_of::<PyFloat>())
    }

    fn is_integer(&self, value: ValueId) -> bool {
        self.hint(value).is_some_and(|hint| hint.is_exact_instance_of::<PyInt>())
    }

    /// What the number is now.
    fn hint(&self, value: ValueId) -> Option<Bound<'py, PyAny>> {
        match self.value(value) {
            Value::Real { object, .. } => Some(object.bind(self.py).clone()),
            Value::New(New::Computed(computed)) => Some(computed.hint.bind(self.py).clone()),
            _ => None,
        }
    }
}
