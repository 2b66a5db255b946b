//! Iterators of C that exist outside: the trace looks ahead, compiled code does, too, and advances them before all other side effects.
//!
//! So a trace holds wherever such an iterator stands, as long as the items that it took pass their guards. Nothing that the trace changes
//! may be what an iterator reads in a later step: a guard says so.
use crate::ffi::{iterators, types};
use crate::guard::source::Source;
use crate::guard::{Check, DomainCheck, IteratorApart};
use crate::trace::state::iterators::IteratorUse;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal, unsupported};
use crate::trace::state::value::ValueId;
use crate::trace::value::finalisable::ending_runs_code;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::Arc;

/// Steps of one iterator in a trace; what goes further goes natively.
const MAX_STEPS: usize = 4_096;

impl<'py> Tracer<'py> {
    /// Whether the value is an iterator of C from outside.
    pub(crate) fn is_outside_iterator(&self, value: ValueId) -> bool {
        self.real(value).is_some_and(|object| iterators::is_iterator(&object.get_type()))
    }

    /// What the method `__next__` of such an iterator gives; `None`: the value is none.
    pub(crate) fn next_by_name(&mut self, name: &str, args: &[ValueId]) -> Traced<Option<ValueId>> {
        match (name, args) {
            ("__next__", [iterator]) if self.is_outside_iterator(*iterator) => {
                self.next_of_outside(*iterator).map(Some)
            }
            ("__iter__", [value]) if self.is_outside_iterator(*value) => Ok(Some(*value)),
            ("__iter__", [value]) => self.iterate_unusual(*value),
            ("__len__", [view]) => Ok(self.length_of_view(*view)?.map(|length| self.integer(length as isize))),
            ("__repr__" | "__str__" | "__format__", [view]) if self.is_outside_view(*view) => {
                unsupported("text of an object from outside", "memoryview")
            }
            // A list that C fills does not show how much room it began with.
            ("__length_hint__", [iterator]) if self.state.nesting > 0 && self.is_outside_iterator(*iterator) => {
                Ok(Some(self.constant(self.py.NotImplemented().into_bound(self.py))))
            }
            _ => Ok(None),
        }
    }

    /// The next item of an iterator from outside.
    pub(crate) fn next_outside(&mut self, iterator: ValueId) -> Traced<Option<ValueId>> {
        let class = self.class_of(iterator)?;
        let (Some(object), Some(source)) = (self.real(iterator), self.source(iterator)) else {
            return internal("an iterator that is not from outside");
        };
        if let Some(stepper) = self.stepper_of(iterator, &object, &source)? {
            return self.step_in_place_of(stepper, &class, |trace| trace.next(stepper));
        }
        let index = self.use_of_iterator(iterator, &object);
        let used = &self.state.iterators[index];
        if used.has_ended {
            return Ok(None);
        }
        let step = used.steps;
        self.keep_apart(index, &source)?;
        let count = (step + 1).next_power_of_two();
        let Some(items) = self.items_ahead(index, count, &object).filter(|_| step < MAX_STEPS) else {
            return unsupported("iterator from outside", types::name(&class));
        };
        let ahead = Source::Ahead(Arc::new(source), count);
        if let Ok(item) = items.get_item(step) {
            self.state.iterators[index].steps += 1;
            return Ok(Some(self.sourced(item, Source::Item(Arc::new(ahead), step))));
        }
        if !self.state.iterators[index].ends_silently {
            return unsupported("iterator from outside whose end runs code", types::name(&class));
        }
        self.guard(ahead, Check::Length(step), "the trace came to the end of the iterator");
        self.guard_whole_end(iterator);
        let used = &mut self.state.iterators[index];
        (used.steps, used.has_ended) = (used.steps + 1, true);
        Ok(None)
    }

    /// The index of what the trace keeps about an iterator.
    pub(crate) fn use_of_iterator(&mut self, value: ValueId, object: &Bound<'py, PyAny>) -> usize {
        if let Some(index) = self.state.iterators.iter().position(|used| used.value == value) {
            return index;
        }
        let ends_silently = !ending_runs_code(object, &|address| self.references_to(address));
        self.state.aliases.changed.insert(value);
        self.state.iterators.push(IteratorUse {
            value,
            steps: 0,
            has_ended: false,
            ends_silently,
            ahead: Vec::new(),
            apart_from: Vec::new(),
        });
        self.state.iterators.len() - 1
    }

    /// The next items, always the same objects.
    pub(crate) fn items_ahead(
        &mut self,
        index: usize,
        count: usize,
        iterator: &Bound<'py, PyAny>,
    ) -> Option<Bound<'py, PyTuple>> {
        let place = count.trailing_zeros() as usize;
        if let Some(known) = self.state.iterators[index].ahead.get(place) {
            return Some(known.bind(self.py).clone());
        }
        let items = iterators::ahead(iterator, count)?;
        self.state.iterators[index].ahead.push(items.clone().unbind());
        Some(items)
    }

    /// A graph break before a step of an iterator that reads what the trace has changed; else a guard that it reads none of that.
    fn keep_apart(&mut self, index: usize, source: &Source) -> Traced<()> {
        let used = &self.state.iterators[index];
        let value = used.value;
        let copies = self.state.private_copies.iter().filter(|copy| copy.is_changed(self.py)).map(|copy| copy.value);
        let mut changed: Vec<_> = copies.chain(self.changed_values().iter()).filter(|other| *other != value).collect();
        changed.retain(|other| !used.apart_from.contains(other));
        changed.dedup();
        if changed.is_empty() {
            return Ok(());
        }
        let values = || std::iter::once(value).chain(changed.iter().copied());
        let objects: Vec<_> = values().filter_map(|value| self.real(value)).collect();
        let sources: Option<Arc<[Source]>> = values().map(|value| self.source(value)).collect();
        let objects = PyTuple::new(self.py, objects).or_else(|error| internal(error.to_string()))?;
        let Some(sources) = sources.filter(|_| IteratorApart.holds(objects.as_any())) else {
            let class = self.class_of(value)?;
            return unsupported("iterator from outside through what the trace changed", types::name(&class));
        };
        if changed.iter().any(|other| !matches!(self.source(*other), Some(Source::Constant(_))))
            || !matches!(source, Source::Constant(_))
        {
            let check = Check::Domain(Box::new(IteratorApart));
            self.guard(
                Source::Together(sources),
                check,
                "the trace changed something while it went through an iterator",
            );
        }
        self.state.iterators[index].apart_from.extend(changed);
        Ok(())
    }
}
