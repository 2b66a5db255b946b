//! Jumps and loops.
use crate::bytecode::Instr;
use crate::trace::state::frame::{Flow, Frame};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal};

/// To the target of the instruction.
pub(crate) fn jump(instr: &Instr) -> Traced<Flow> {
    instr.target.map_or_else(|| internal("jump without a target"), |target| Ok(Flow::Jump(target)))
}

impl<'py> Tracer<'py> {
    pub(crate) fn pop_jump_if(&mut self, frame: &mut Frame, instr: &Instr, wanted: bool) -> Traced<Flow> {
        let value = frame.pop()?;
        if self.branch_truth(frame, value)? == wanted { jump(instr) } else { Ok(Flow::Next) }
    }

    pub(crate) fn pop_jump_if_none(&mut self, frame: &mut Frame, instr: &Instr, wanted: bool) -> Traced<Flow> {
        let value = frame.pop()?;
        if self.is_none(value)? == wanted { jump(instr) } else { Ok(Flow::Next) }
    }

    /// The value stays where the jump is taken.
    pub(crate) fn jump_if_or_pop(&mut self, frame: &mut Frame, instr: &Instr, wanted: bool) -> Traced<Flow> {
        let value = frame.peek(1)?;
        if self.is_true(value)? == wanted {
            return jump(instr);
        }
        frame.pop()?;
        Ok(Flow::Next)
    }

    /// From 3.15 on an argument says that a generator is to delegate to the iterator.
    pub(crate) fn get_iter_op(&mut self, frame: &mut Frame, delegates: bool) -> Traced<Flow> {
        if delegates {
            return self.get_yield_from_iter(frame);
        }
        let iterable = frame.pop()?;
        let iterator = match self.begin_open_loop(frame, iterable)? {
            Some(iterator) => iterator,
            None => self.get_iter(iterable)?,
        };
        frame.push_iterator(iterator);
        Ok(Flow::Next)
    }

    /// The target is `END_FOR`, which runs with a value pushed; the specialised jump skips both pops. Without it the iterator goes here.
    pub(crate) fn for_iter(&mut self, frame: &mut Frame, instr: &Instr) -> Traced<Flow> {
        let iterator = frame.iterator()?;
        let next = match self.next_of_open_loop(iterator)? {
            Some(next) => next,
            None => self.next(iterator)?,
        };
        match next {
            Some(item) => {
                frame.push(item);
                Ok(Flow::Next)
            }
            None if frame.code.isa().loop_end().is_empty() => {
                frame.pop()?;
                jump(instr)
            }
            None => {
                let none = self.none();
                frame.push(none);
                jump(instr)
            }
        }
    }

    pub(crate) fn get_len(&mut self, frame: &mut Frame) -> Traced<Flow> {
        let value = frame.peek(1)?;
        let size = self.size(value)?;
        let size = pyo3::types::PyInt::new(self.py, size).into_any();
        let size = self.constant(size);
        frame.push(size);
        Ok(Flow::Next)
    }
}
