//! Items of lists that the program has, by an index that contents decide: `names[scores.argmax().item()]`, `indices[i]` of what is drawn.
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::Traced;
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt, PyList, PyString, PyTuple};

/// How many items a list has at most: a guard looks at each.
const MOST: usize = 256;

impl<'py> Tracer<'py> {
    /// `items[index]`, where the index is known to be in range, and all items are integers, or floats, or texts; `None`: they are not.
    pub(in crate::trace::number) fn item_by_unread(
        &mut self,
        items: ValueId,
        index: ValueId,
    ) -> Traced<Option<ValueId>> {
        let class = self.class_of(items)?;
        let is_list = class.is(self.py.get_type::<PyList>()) || class.is(self.py.get_type::<PyTuple>());
        if !is_list || !self.is_unread(index) || !self.class_of(index)?.is(self.py.get_type::<PyInt>()) {
            return Ok(None);
        }
        let Some(operand) = self.unread_as_operand(index) else { return Ok(None) };
        let count = self.size(items)?;
        let range = self.range_of(&operand).filter(|range| range.is_exact());
        let is_there = range.is_some_and(|range| range.least >= -(count as f64) && range.most < count as f64);
        if !is_there || count > MOST {
            return Ok(None);
        }
        let (mut known, mut kind) = (Vec::with_capacity(count), None);
        for place in 0..count {
            let place = self.integer(place as isize);
            let item = self.operator("getitem", &[items, place])?;
            let Some(item) = self.known(item).filter(|_| !self.is_symbolic(item)) else { return Ok(None) };
            let class = item.get_type();
            let is_plain = class.is(self.py.get_type::<PyInt>()) && item.extract::<i64>().is_ok()
                || class.is(self.py.get_type::<PyFloat>())
                || class.is(self.py.get_type::<PyString>());
            if !is_plain || kind.as_ref().is_some_and(|kind| !class.is(kind)) {
                return Ok(None);
            }
            kind = Some(class);
            known.push(item);
        }
        let Some(kind) = kind else { return Ok(None) };
        let known = PyTuple::new(self.py, known).or_else(|error| self.raise_error(error))?.into_any();
        self.record_of_numbers("chosen", &[crate::domain::Operand::Known(known), operand], index, &kind)
    }
}
