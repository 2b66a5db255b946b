//! Sets generator frames aside, resumes them, delegates to them.
use crate::bytecode::{Instr, flag};
use crate::trace::state::arguments::Arguments;
use crate::trace::state::frame::{Flow, Frame};
use crate::trace::state::generator::{GeneratorKind, ResumeWith, SendResult};
use crate::trace::state::outcome::YIELDS;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, fallback, hints, stop};
use crate::trace::state::value::ValueId;
use generated::slots::Slot;

impl<'py> Tracer<'py> {
    pub(crate) fn return_generator(&mut self, frame: &mut Frame) -> Traced<Flow> {
        match (frame.outermost, GeneratorKind::of_flags(frame.code.flags)) {
            // A continuation: the frame that delegates to it begins it at once.
            (true, Some(_)) if frame.code.is_continuation(self.py) => {
                frame.push(self.none());
                return Ok(Flow::Next);
            }
            (false, Some(_)) => {}
            _ => {
                return fallback("generators and coroutines run as they are; what they call is compiled");
            }
        }
        // The resumed generator pops what `send` gives.
        Ok(Flow::Generator)
    }

    pub(crate) fn yield_value(&mut self, frame: &mut Frame) -> Traced<Flow> {
        if frame.outermost {
            return stop(YIELDS, "", "the frame is set aside here, and goes on when it is resumed", hints::COVERAGE);
        }
        frame.pop().map(Flow::Yield)
    }

    pub(crate) fn get_yield_from_iter(&mut self, frame: &mut Frame) -> Traced<Flow> {
        let iterable = frame.pop()?;
        if self.is_coroutine(iterable) {
            if frame.code.flags & (flag::COROUTINE | flag::ITERABLE_COROUTINE) == 0 {
                let message = "cannot 'yield from' a coroutine object in a non-coroutine generator";
                return self.raise("TypeError", message);
            }
            frame.push_iterator(iterable);
            return Ok(Flow::Next);
        }
        let iterator = self.get_iter(iterable)?;
        if frame.outermost && iterator != iterable {
            // The frame itself is to delegate to it.
            self.refuse_sequence_iterator(iterator)?;
        }
        frame.push_iterator(iterator);
        Ok(Flow::Next)
    }

    /// `[receiver, value]` → `[receiver, result]`; jumps when the receiver has ended.
    pub(crate) fn send_op(&mut self, frame: &mut Frame, instr: &Instr) -> Traced<Flow> {
        let value = frame.pop()?;
        let receiver = frame.iterator()?;
        match self.send(receiver, value)? {
            SendResult::Yielded(item) => {
                frame.push(item);
                Ok(Flow::Next)
            }
            SendResult::Returned(result) => {
                if !frame.code.isa().ends_sends() {
                    frame.pop()?;
                }
                frame.push(result);
                crate::trace::instructions::control::jump(instr)
            }
        }
    }

    /// Sends to what is delegated to; its `StopIteration` is its result.
    fn send(&mut self, receiver: ValueId, value: ValueId) -> Traced<SendResult> {
        if self.state.generators.contains_key(&receiver) {
            return match self.step_generator(receiver, ResumeWith::Value(value)) {
                Err(signal) => self.stopped_with(signal).map(SendResult::Returned),
                sent => sent,
            };
        }
        let class = self.class_of(receiver)?;
        let answer = if self.is_none(value)? && self.slot_function(&class, Slot::tp_iternext)?.is_some() {
            self.call_builtin("next", &[receiver])
        } else {
            self.refuse_sequence_iterator(receiver)?;
            let send = self.get_attr(receiver, "send")?;
            self.call(send, Arguments::positional(vec![value]))
        };
        match answer {
            Ok(item) => Ok(SendResult::Yielded(item)),
            Err(signal) => self.stopped_with(signal).map(SendResult::Returned),
        }
    }
}
