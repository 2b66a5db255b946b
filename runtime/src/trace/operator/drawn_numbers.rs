//! Numbers that a program draws from a generator of C's from outside, as `random.random()` does: the trace looks ahead, as it does with
//! iterators, and takes each for a number that is another one at every call.
use crate::domain::Domain;
use crate::ffi::random_numbers;
use crate::graph::Node;
use crate::guard::Check;
use crate::guard::source::Source;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::sync::Arc;

/// Numbers of one generator in a trace.
const MAX_DRAWN: usize = 1_024;

impl<'py> Tracer<'py> {
    /// What a method of C gives that draws a number; `None`: it is another method, or the number must be known, or the trace works on the
    /// generator's state.
    pub(crate) fn drawn(
        &mut self,
        name: &str,
        owner: &Bound<'py, PyType>,
        args: &[ValueId],
    ) -> Traced<Option<ValueId>> {
        let [generator] = *args else { return Ok(None) };
        let copied = |tracer: &Self| tracer.state.state_copies.iter().any(|copy| copy.value == generator);
        if !random_numbers::is_draw(name, owner) || !self.state.may_draw || self.state.numbers.all_known || copied(self)
        {
            return Ok(None);
        }
        let (Some(object), Some(base)) = (self.real(generator), self.source(generator)) else { return Ok(None) };
        self.class_of(generator)?;
        self.refuse_draw_after_program()?;
        let index = self.use_of_iterator(generator, &object);
        let step = self.state.iterators[index].steps;
        let count = (step + 1).next_power_of_two();
        let source = Source::Item(Arc::new(Source::Ahead(Arc::new(base), count)), step);
        let key = source.key();
        if step >= MAX_DRAWN || self.state.numbers.fixed.contains_key(&key) {
            return Ok(None);
        }
        let Some(items) = self.items_ahead(index, count, &object) else { return Ok(None) };
        let Ok(number) = items.get_item(step) else { return Ok(None) };
        self.state.iterators[index].steps += 1;
        self.state.numbers.drawn.insert(key);
        Ok(Some(self.sourced(number, source)))
    }

    /// How many numbers the trace has drawn.
    pub(crate) fn count_drawn(&self, generator: ValueId) -> usize {
        self.state.iterators.iter().find(|used| used.value == generator).map_or(0, |used| used.steps)
    }

    /// Breaks where the graph, which runs before generators are advanced, calls what may draw from them itself.
    pub(crate) fn refuse_draw_after_program(&self) -> Traced<()> {
        let runs =
            |node: &Node| match (&node.target, self.state.domains.iter().find(|known| known.name() == node.domain)) {
                (Some(target), Some(domain)) => domain.call_effects(target.bind(self.py), &[]).runs_program,
                _ => false,
            };
        match self.state.graph.nodes.iter().any(runs) {
            true => unsupported("function of the program in the graph", "before a number is drawn"),
            false => Ok(()),
        }
    }

    /// The same where such a call comes after draws.
    pub(crate) fn refuse_program_after_draw(&self, domain: &Arc<dyn Domain>, target: &Bound<'py, PyAny>) -> Traced<()> {
        let draws = !self.state.numbers.drawn.is_empty() || !self.state.state_copies.is_empty();
        match draws && domain.call_effects(target, &[]).runs_program {
            true => unsupported("function of the program in the graph", "after a change of a state that it may read"),
            false => Ok(()),
        }
    }

    /// A trace that holds for one number alone is made again, and breaks where that is drawn.
    pub(crate) fn refuse_known_draws(&mut self) -> Traced<()> {
        let drawn = &self.state.numbers.drawn;
        if drawn.is_empty() {
            return Ok(());
        }
        let known = self.state.guards.iter().filter(|guard| matches!(guard.check, Check::Equals(_)));
        let known: Vec<u64> = known.map(|guard| guard.source.key()).filter(|key| drawn.contains(key)).collect();
        if known.is_empty() {
            return Ok(());
        }
        self.state.numbers.to_fix.extend(known);
        Err(Unwind::Specialise)
    }
}
