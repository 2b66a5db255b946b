//! Iterators and generators of random numbers from outside are advanced as far as the trace went through them.
use crate::ffi::{iterators, random_numbers};
use crate::trace::state::outcome::Effect;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal};

impl Tracer<'_> {
    /// Before all other side effects, for these may change what the iterators read.
    pub(crate) fn advance_iterators(&mut self) -> Traced<()> {
        let drawn: Vec<_> = self.state.drawing.iter().map(|drawing| (drawing.value, drawing.next)).collect();
        if !drawn.is_empty() {
            let go_on = pyo3::wrap_pyfunction!(random_numbers::go_on_from, self.py);
            let callable = self.constant(go_on.or_else(|error| internal(error.to_string()))?.into_any());
            let effects =
                drawn.into_iter().map(|(generator, next)| Effect::Call { callable, args: vec![generator, next] });
            self.state.effects.splice(0..0, effects);
        }
        let used: Vec<_> = self.state.iterators.iter().map(|used| (used.value, used.steps)).collect();
        if used.is_empty() {
            return Ok(());
        }
        let advance =
            pyo3::wrap_pyfunction!(iterators::advance, self.py).or_else(|error| internal(error.to_string()))?;
        let callable = self.constant(advance.into_any());
        let mut effects = Vec::with_capacity(used.len());
        for (iterator, steps) in used.into_iter().filter(|(_, steps)| *steps > 0) {
            effects.push(Effect::Call { callable, args: vec![iterator, self.integer(steps as isize)] });
        }
        self.state.effects.splice(0..0, effects);
        Ok(())
    }
}
