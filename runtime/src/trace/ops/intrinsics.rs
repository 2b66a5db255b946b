//! `CALL_INTRINSIC_1` and `CALL_INTRINSIC_2`. CPython: `Python/intrinsics.c`.
use crate::trace::frame::{Flow, Frame};
use crate::trace::generator::Kind;
use crate::trace::signal::{Signal, Traced, unsupported};
use crate::trace::state::Tracer;
use crate::trace::value::ValueId;
use pyo3::prelude::*;

impl<'py> Tracer<'py> {
    pub(super) fn call_intrinsic_1(&mut self, frame: &mut Frame, which: u32) -> Traced<Flow> {
        let value = frame.pop()?;
        let result = match which {
            3 => self.stop_iteration_error(frame, value)?,
            4 => self.async_gen_wrap(value),
            5 => self.operator("pos", &[value])?,
            6 => {
                let items = self.list_of(value, None)?;
                self.tuple(&items)?
            }
            _ => return unsupported("CALL_INTRINSIC_1", format!("intrinsic {which}")),
        };
        frame.push(result);
        Ok(Flow::Next)
    }

    pub(super) fn call_intrinsic_2(&mut self, frame: &mut Frame, which: u32) -> Traced<Flow> {
        let second = frame.pop()?;
        let first = frame.pop()?;
        let result = match which {
            1 => self.prep_reraise_star(first, second)?,
            _ => return unsupported("CALL_INTRINSIC_2", format!("intrinsic {which}")),
        };
        frame.push(result);
        Ok(Flow::Next)
    }

    /// `stopiteration_error`: what ends an iteration must not leave a generator by itself.
    fn stop_iteration_error(&mut self, frame: &Frame, exception: ValueId) -> Traced<ValueId> {
        let raised = Signal::Raised(exception);
        let kind = Kind::of_flags(frame.code.flags);
        let noun = kind.map_or("generator", Kind::noun);
        let message = if self.raised_is(&raised, "StopIteration")? {
            format!("{noun} raised StopIteration")
        } else if kind == Some(Kind::AsyncGenerator) && self.raised_is(&raised, "StopAsyncIteration")? {
            format!("{noun} raised StopAsyncIteration")
        } else {
            return Ok(exception);
        };
        let error = self.import("builtins", "RuntimeError")?;
        let error = error.call1((message,)).or_else(|error| self.raise_error(error))?;
        let error = self.own(error);
        self.set_cause_and_context(error, exception)?;
        Ok(error)
    }
}
