//! Iterators of C from outside whose steps run code of the program: `map`, `filter`, `itertools.starmap`, `zip` over such, `iter(callable, …)`.
//!
//! The trace makes an iterator of its own of the same parts, and lets that make the steps. A step that changes the iterator itself, not only
//! what it goes through, is a graph break: nothing would change the one outside.
use crate::bytecode::flag;
use crate::ffi::{inspect, iterator_parts, iterators, types};
use crate::guard::Check;
use crate::guard::source::{Fixed, Source};
use crate::trace::state::arguments::Arguments;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::sync::Arc;

/// Steps that such an iterator may have left. With more, a loop over it is compiled once and breaks at each step, which is less to trace.
const MAX_LEFT: usize = 32;

impl<'py> Tracer<'py> {
    /// The trace's own iterator of the same parts; `None`: a copy can look ahead, nothing tells the parts, much is left, or the next
    /// iterator will have other parts.
    pub(crate) fn stepper_of(
        &mut self,
        iterator: ValueId,
        object: &Bound<'py, PyAny>,
        source: &Source,
    ) -> Traced<Option<ValueId>> {
        if let Some((_, stepper)) = self.state.steppers.iter().find(|(value, _)| *value == iterator) {
            return Ok(Some(*stepper));
        }
        if self.state.iterators.iter().any(|used| used.value == iterator) || iterators::ahead(object, 1).is_some() {
            return Ok(None);
        }
        let is_short = iterator_parts::steps_left(object, MAX_LEFT + 1) <= MAX_LEFT;
        let parts = iterator_parts::parts(object).filter(|(_, parts)| is_short && !parts.iter().any(is_made_anew));
        let Some((make, parts)) = parts else { return Ok(None) };
        let function = pyo3::wrap_pyfunction!(iterator_parts::parts_from, self.py)
            .or_else(|error| internal(error.to_string()))?
            .into_any();
        let whole = Arc::new(Source::OwnItem(Arc::new(source.clone()), Fixed::new(&function), 0));
        self.guard((*whole).clone(), Check::Length(parts.len()), "the trace took the iterator apart");
        let parts = parts.iter().enumerate();
        let parts = parts.map(|(index, part)| self.sourced(part, Source::Item(Arc::clone(&whole), index))).collect();
        let make = self.constant(make);
        let stepper = self.call(make, Arguments::positional(parts))?;
        self.state.steppers.push((iterator, stepper));
        Ok(Some(stepper))
    }

    /// `next(iterator)` for one of C from outside. A `StopIteration` that code of the program raised in a step is the one that comes out.
    pub(crate) fn next_of_outside(&mut self, iterator: ValueId) -> Traced<ValueId> {
        if let (Some(object), Some(source)) = (self.real(iterator), self.source(iterator))
            && let Some(stepper) = self.stepper_of(iterator, &object, &source)?
        {
            return self.step_in_place_of(stepper, &object.get_type(), |trace| trace.model_next(stepper, None));
        }
        match self.next_outside(iterator)? {
            Some(item) => Ok(item),
            None => self.raise_plain("StopIteration"),
        }
    }

    /// A step of the trace's own iterator, which must not change it.
    pub(crate) fn step_in_place_of<T>(
        &mut self,
        stepper: ValueId,
        class: &Bound<'py, PyType>,
        step: impl FnOnce(&mut Self) -> Traced<T>,
    ) -> Traced<T> {
        let state = |tracer: &Self| tracer.owned(stepper).and_then(|own| iterator_parts::state(&own));
        let Some(before) = state(self) else { return unsupported("iterator from outside", types::name(class)) };
        let result = step(self);
        match state(self) {
            Some(after) if after == before => result,
            _ => unsupported("iterator from outside that its step changes", types::name(class)),
        }
    }
}

/// Whether a part is a function that another function makes: the trace relies on its identity, and the next iterator has another one.
fn is_made_anew(part: Bound<'_, PyAny>) -> bool {
    let flags = inspect::function_code(&part).and_then(|code| code.getattr("co_flags").ok()?.extract::<u32>().ok());
    flags.is_some_and(|flags| flags & flag::NESTED != 0)
}
