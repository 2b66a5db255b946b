//! Generators: frames that are set aside and resumed.
use crate::bytecode::Instr;
use crate::trace::frame::{Flow, Frame};
use crate::trace::signal::{Signal, Traced, unsupported};
use crate::trace::state::Tracer;
use crate::trace::value::ValueId;
use pyo3::prelude::*;

impl<'py> Tracer<'py> {
    pub(super) fn return_generator(&mut self, frame: &mut Frame) -> Traced<Flow> {
        const GENERATOR: u32 = 0x20;
        if frame.outermost || frame.code.flags & GENERATOR == 0 {
            return Err(Signal::Fallback(
                "generators and coroutines run as they are; what they call is compiled".into(),
            ));
        }
        // The resumed generator pops what `send` gives.
        Ok(Flow::Generator)
    }

    pub(super) fn yield_value(&mut self, frame: &mut Frame) -> Traced<Flow> {
        frame.pop().map(Flow::Yield)
    }

    pub(super) fn get_yield_from_iter(&mut self, frame: &mut Frame) -> Traced<Flow> {
        let iterable = frame.pop()?;
        let iterator = self.get_iter(iterable)?;
        frame.push(iterator);
        Ok(Flow::Next)
    }

    /// `[receiver, value]` → `[receiver, result]`; jumps when the receiver has ended.
    pub(super) fn send_op(&mut self, frame: &mut Frame, instr: &Instr) -> Traced<Flow> {
        let value = frame.pop()?;
        let receiver = frame.peek(1)?;
        let is_none = self.is_none(value)?;
        if self.state.generators.contains_key(&receiver) {
            return match self.resume(receiver, value)? {
                Ok(item) => {
                    frame.push(item);
                    Ok(Flow::Next)
                }
                Err(result) => {
                    frame.push(result);
                    super::control::jump(instr)
                }
            };
        }
        if !is_none {
            return unsupported("send() to an iterator that is no generator", "yield from");
        }
        match self.next(receiver)? {
            Some(item) => {
                frame.push(item);
                Ok(Flow::Next)
            }
            None => {
                let none = self.none();
                frame.push(none);
                super::control::jump(instr)
            }
        }
    }

    /// Resumes a generator: `Ok(Ok(yielded))` or `Ok(Err(returned))`.
    pub(in crate::trace) fn resume(&mut self, generator: ValueId, sent: ValueId) -> Traced<Result<ValueId, ValueId>> {
        self.resume_with(generator, Ok(sent))
    }

    /// Resumes with a value or with an exception thrown in.
    pub(in crate::trace) fn resume_with(
        &mut self,
        generator: ValueId,
        sent: Result<ValueId, ValueId>,
    ) -> Traced<Result<ValueId, ValueId>> {
        let none = self.none();
        let Some(slot) = self.state.generators.get_mut(&generator) else {
            return unsupported("generator from outside", "its frame exists already");
        };
        let Some(mut frame) = slot.take() else {
            return match sent {
                Ok(_) => Ok(Err(none)),
                Err(exception) => Err(Signal::Raised(exception)),
            };
        };
        self.enter_call()?;
        let below = std::mem::replace(&mut self.state.exc_info, frame.exc_info);
        self.state.exc_below.push(below);
        let rest = self.resume_frame(&mut frame, sent);
        frame.exc_info = self.state.exc_info;
        self.state.exc_info = self.state.exc_below.pop().flatten();
        self.state.depth -= 1;
        match rest? {
            crate::trace::frame::Rest::Yielded(value) => {
                self.state.generators.insert(generator, Some(frame));
                Ok(Ok(value))
            }
            crate::trace::frame::Rest::Returned(value) => Ok(Err(value)),
            crate::trace::frame::Rest::Generator => unsupported("generator", "resumed into its own start"),
        }
    }

    fn resume_frame(&mut self, frame: &mut Frame, sent: Result<ValueId, ValueId>) -> Traced<crate::trace::frame::Rest> {
        match sent {
            Ok(value) => frame.push(value),
            Err(exception) => {
                self.chain(exception, self.state.exc_info);
                let at = frame.pc.saturating_sub(1);
                let Some(instr) = frame.code.instrs.get(at).copied() else { return Err(Signal::Raised(exception)) };
                self.handle(frame, &instr, exception)?;
            }
        }
        self.run(frame)
    }

    /// `send`, `throw`, `close` and `__next__` of a generator that the trace made.
    pub(in crate::trace) fn generator_method(
        &mut self,
        generator: ValueId,
        name: &str,
        args: &[ValueId],
    ) -> Traced<ValueId> {
        let none = self.none();
        let result = match (name, args) {
            ("__next__", []) => self.resume(generator, none)?,
            ("send", [value]) => self.resume(generator, *value)?,
            ("throw", [exception]) => {
                let exception = self.exception_from(*exception)?;
                self.resume_with(generator, Err(exception))?
            }
            ("close", []) => return self.close(generator),
            ("__iter__", []) => return Ok(generator),
            _ => return unsupported("method of a generator", name),
        };
        match result {
            Ok(value) => Ok(value),
            Err(value) => self.raise_stop_iteration(value),
        }
    }

    fn raise_stop_iteration<T>(&mut self, value: ValueId) -> Traced<T> {
        let class = self.import("builtins", "StopIteration")?;
        let exception = if self.is_none(value)? { class.call0() } else { class.call1((self.native(value)?,)) };
        let exception = exception.or_else(|error| self.raise_error(error))?;
        let exception = self.own(exception);
        self.raise_value(exception)
    }

    fn close(&mut self, generator: ValueId) -> Traced<ValueId> {
        let none = self.none();
        let frame = self.state.generators.get(&generator).and_then(|frame| frame.as_ref());
        let started = frame.is_some_and(|frame| frame.suspended_at().is_some());
        if !started {
            self.state.generators.insert(generator, None);
            return Ok(none);
        }
        let class = self.import("builtins", "GeneratorExit")?;
        let exit = class.call0().or_else(|error| self.raise_error(error))?;
        let exit = self.own(exit);
        match self.resume_with(generator, Err(exit)) {
            Ok(Ok(_)) => self.raise("RuntimeError", "generator ignored GeneratorExit"),
            Ok(Err(value)) => Ok(value),
            Err(Signal::Raised(raised)) if raised == exit || self.is_instance_of(raised, "StopIteration")? => Ok(none),
            Err(other) => Err(other),
        }
    }

    fn is_instance_of(&mut self, value: ValueId, class: &str) -> Traced<bool> {
        let class = self.import("builtins", class)?;
        Ok(self.class_of(value)?.is_subclass(&class).unwrap_or(false))
    }
}
