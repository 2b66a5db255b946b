//! Where a trace ends because a value that it makes there cannot leave it.
use crate::bytecode::Instr;
use crate::trace::run::plan::Plan;
use crate::trace::state::frame::Frame;
use crate::trace::state::outcome::Break;
use crate::trace::state::tracer::{State, Tracer};
use crate::trace::state::unwind::hints;

/// The kind of such a break.
pub(super) const KIND: &str = "value cannot leave the trace";

impl Plan {
    /// Where to stop because of a value, made at a step, that cannot leave: before it; earlier still where one such value after another
    /// would make the trace again for ever. Where a loop makes one in each pass, and passes take long, before the first of them, and
    /// continuations end there, too.
    pub(super) fn before(&mut self, step: u64, state: &State) -> u64 {
        const EACH: u32 = 2;
        // Instructions of all attempts.
        const LONG: u64 = 50_000;
        self.escapes += 1;
        let place = state.stop_places.passed.get(step as usize).copied().flatten();
        let is_known = place.is_some() && std::mem::replace(&mut self.escaped_at, place) == place;
        if let Some(place) = place.filter(|_| is_known && self.executed > LONG) {
            state.function_caches.note_escape(place);
            let first = state.stop_places.passed.iter().position(|other| *other == Some(place));
            return first.map_or(step, |first| first as u64);
        }
        let further = 4_u64.saturating_pow(self.escapes.saturating_sub(EACH));
        if self.escapes > EACH { step.saturating_sub(further) } else { step }
    }
}

impl Tracer<'_> {
    /// Why the trace ends before this instruction, where what it makes could not leave earlier traces of the loop.
    pub(super) fn ends_before(&self, frame: &Frame, instr: &Instr) -> Option<Box<Break>> {
        let escapes = &self.state.stop_places.escaping;
        let may_end = frame.outermost && self.state.outer_step > 1 && frame.pc >= frame.leave.first;
        if escapes.is_empty() || !may_end || self.state.must_not_break || !escapes.contains(&(instr.position, instr.op))
        {
            return None;
        }
        Some(Box::new(Break {
            kind: KIND.into(),
            context: "what an instruction of a loop makes".into(),
            explanation: "the value is made natively, because compiled code could not make it again".into(),
            hints: vec![hints::COVERAGE.into()],
        }))
    }
}
