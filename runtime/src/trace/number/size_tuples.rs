//! Functions that make tuples of sizes, or multiply what is in them, where some of the sizes are symbolic.
use crate::domain::{Callee, Domain};
use crate::ffi::callee;
use crate::symbol::Operation;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::Traced;
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList, PyTuple, PyType};

impl<'py> Tracer<'py> {
    /// What a class of tuples of sizes makes of some, and the number of elements that they count; `None`: another call, or all are known.
    pub(crate) fn function_of_sizes(
        &mut self,
        domain: &dyn Domain,
        callee: &Callee<'py>,
        args: &[ValueId],
    ) -> Traced<Option<ValueId>> {
        let (Callee::Function(function), [sizes]) = (callee, args) else { return Ok(None) };
        if !self.state.numbers.in_containers {
            return Ok(None);
        }
        let class = match function.cast::<PyType>() {
            Ok(class) => class.clone(),
            Err(_) => match callee::owner_of(function) {
                Some(class) => class,
                None => return Ok(None),
            },
        };
        if !domain.is_size_tuple(&class) {
            return Ok(None);
        }
        let Some(items) = self.symbolic_sizes(*sizes)? else { return Ok(None) };
        match function.is(&class) {
            true => self.sequence_of(&class, items).map(Some),
            false if callee::name_of(function) == "numel" => self.product_of_sizes(items),
            false => Ok(None),
        }
    }

    /// The items of a tuple or list of sizes, some of which are symbolic.
    fn symbolic_sizes(&mut self, value: ValueId) -> Traced<Option<Vec<Bound<'py, PyAny>>>> {
        let held = match self.owned(value) {
            Some(held) => Some(held),
            None => self.private_copy(value)?,
        };
        let Some(held) = held else { return Ok(None) };
        let items: Vec<_> = match (held.cast_exact::<PyList>(), held.cast::<PyTuple>()) {
            (Ok(list), _) => list.iter().collect(),
            (_, Ok(tuple)) if held.is_exact_instance_of::<PyTuple>() || self.is_size_tuple(&held) => {
                tuple.iter().collect()
            }
            _ => return Ok(None),
        };
        let are_sizes = items.iter().all(|item| self.is_size(item));
        Ok((are_sizes && items.iter().any(|item| self.holds_number(item, 1))).then_some(items))
    }

    /// C multiplies what fits into 64 bits; a guard says that the product does.
    fn product_of_sizes(&mut self, items: Vec<Bound<'py, PyAny>>) -> Traced<Option<ValueId>> {
        let mut product = self.constant(PyInt::new(self.py, 1).into_any());
        for item in items {
            let item = self.absorb(item);
            let Some(next) = self.number_operation(Operation::Multiply, &[product, item])? else { return Ok(None) };
            product = next;
        }
        let fits = match self.numeral(product)? {
            Some(numeral) => self.fits(&numeral),
            None => false,
        };
        Ok(fits.then_some(product))
    }
}
