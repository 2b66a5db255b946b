//! `max` and `min` of arrays of one element: the graph gives one of them, and the trace does not know which.
use crate::domain::Operand;
use crate::trace::state::numbers::TakenNumbers;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, unsupported};
use crate::trace::state::value::{Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

impl Tracer<'_> {
    /// The items of a list or a tuple that the trace has made.
    pub(crate) fn items_made(&mut self, items: ValueId) -> Option<Vec<ValueId>> {
        let made = self.owned(items)?;
        let items: Vec<_> = match (made.cast_exact::<PyList>(), made.cast_exact::<PyTuple>()) {
            (Ok(list), _) => list.iter().collect(),
            (_, Ok(tuple)) => tuple.iter().collect(),
            _ => return None,
        };
        Some(items.into_iter().map(|item| self.absorb(item)).collect())
    }

    /// What `max` or `min` gives of such arrays that the graph has made; `None`: C does it.
    pub(super) fn extreme_of_arrays(&mut self, name: &str, items: &[ValueId]) -> Traced<Option<ValueId>> {
        let [first, _, ..] = items else { return Ok(None) };
        if !items.iter().all(|item| matches!(self.value(*item), Value::Node { .. })) {
            return Ok(None);
        }
        let class = self.class_of(*first)?;
        let Some(domain) = self.domain_of(&class) else { return Ok(None) };
        if domain.takes_over(&class) || self.has_taking_modes() || domain.belongs_together(self.py) {
            return Ok(None);
        }
        for item in items {
            if !self.class_of(*item)?.is(&class) {
                return Ok(None);
            }
        }
        self.rely_on_surroundings(&domain)?;
        let operands: Vec<Operand<'_>> = self.operands_of(items, TakenNumbers::None)?;
        let Some((function, example)) = domain.extreme(self.py, name, &operands) else { return Ok(None) };
        let chosen = self.record(&domain, function, &operands, &[], example)?;
        self.state.choices.push(chosen);
        Ok(Some(chosen))
    }

    /// Whether a value is one of several others, and nobody knows which.
    pub(crate) fn is_choice(&self, value: ValueId) -> bool {
        self.state.choices.contains(&value)
    }

    /// Whether the trace has given some value of the graph such an attribute.
    pub(crate) fn is_attribute_of_node(&self, name: &str) -> bool {
        let values = self.state.values.iter().enumerate();
        let mut nodes = values.filter(|(_, value)| matches!(value, Value::Node { .. }));
        nodes.any(|(id, _)| self.state.attributes.get(&(ValueId(id as u32), name.to_owned())).is_some())
    }

    /// Breaks where something is changed after such a choice: it may be another value that changes with it.
    pub(crate) fn refuse_change_of_choice(&self) -> Traced<()> {
        match self.state.choices.is_empty() {
            true => Ok(()),
            false => unsupported("change of a value", "after one of several was chosen by contents"),
        }
    }
}
