//! A frame that runs symbolically: stack, variables, position.
use super::outcome::StackEntry;
use super::unwind::{Traced, internal};
use super::value::ValueId;
use crate::bytecode::{Code, Instr, Label, Op, STOPITERATION_ERROR};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// One frame.
#[derive(Debug)]
pub struct Frame {
    pub(crate) function: Py<PyAny>,
    pub(crate) code: Arc<Code>,
    pub(crate) globals: Py<PyDict>,
    /// A dict, mostly; a function may have any object.
    pub(crate) builtins: Py<PyAny>,
    /// The function that runs, for `COPY_FREE_VARS`.
    pub(crate) closure: Vec<ValueId>,
    /// The namespace of a class body.
    pub(crate) namespace: Option<ValueId>,
    pub(crate) pc: usize,
    pub(crate) stack: Vec<StackEntry>,
    pub(crate) locals: Vec<Option<ValueId>>,
    pub(crate) outermost: bool,
    /// Whether the trace does not stop in this frame, nor below.
    pub(crate) whole: bool,
    /// Whether and where the trace can stop in this frame.
    pub(crate) leave: crate::trace::state::stop_points::StopPoints,
    /// Instructions before which it cannot: they were put into a continuation later.
    pub(crate) put_in: Vec<usize>,
    /// Where the instruction that runs began.
    pub(crate) began: usize,
    /// Tells the frame from others of the trace.
    pub(crate) serial: u64,
    /// What a suspended generator handles.
    pub(crate) exc_info: Option<ValueId>,
}

/// Where control goes after an instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Flow {
    Next,
    Jump(Label),
    Return(ValueId),
    Yield(ValueId),
    /// The frame became a generator.
    Generator,
}

impl Frame {
    pub(crate) fn push(&mut self, value: ValueId) {
        self.stack.push(StackEntry::Object(value));
    }

    /// Puts an iterator where loops and delegations find it. From 3.15 on it takes a second place, which is empty in a trace: a sequence
    /// that is natively read by an index has an iterator here.
    pub(crate) fn push_iterator(&mut self, iterator: ValueId) {
        self.push(iterator);
        if self.code.isa().pairs_iterators() {
            self.stack.push(StackEntry::Null);
        }
    }

    /// The iterator that a loop or a delegation finds at the top.
    pub(crate) fn iterator(&self) -> Traced<ValueId> {
        self.peek(1 + usize::from(self.code.isa().pairs_iterators()))
    }

    /// Takes that iterator off.
    pub(crate) fn pop_iterator(&mut self) -> Traced<Flow> {
        if self.code.isa().pairs_iterators() {
            self.pop_entry()?;
        }
        self.pop_entry().map(|_| Flow::Next)
    }

    pub(crate) fn pop(&mut self) -> Traced<ValueId> {
        match self.stack.pop() {
            Some(StackEntry::Object(value)) => Ok(value),
            other => internal(format!("expected an object on the stack, found {other:?}")),
        }
    }

    pub(crate) fn pop_entry(&mut self) -> Traced<Option<ValueId>> {
        match self.stack.pop() {
            Some(StackEntry::Object(value)) => Ok(Some(value)),
            Some(StackEntry::Null) => Ok(None),
            other => internal(format!("expected an object or NULL on the stack, found {other:?}")),
        }
    }

    /// Pushes what a call finds: the callable with its receiver, or with a NULL.
    pub(crate) fn push_callable(&mut self, callable: ValueId, receiver: Option<ValueId>) {
        let other = receiver.map_or(StackEntry::Null, StackEntry::Object);
        let callable = StackEntry::Object(callable);
        self.stack.extend(match (self.code.isa().null_comes_first(), receiver) {
            (true, None) => [other, callable],
            _ => [callable, other],
        });
    }

    /// Pops what a call finds.
    pub(crate) fn pop_callable(&mut self) -> Traced<(ValueId, Option<ValueId>)> {
        let upper = self.pop_entry()?;
        let lower = self.pop_entry()?;
        match (lower, upper) {
            (Some(callable), receiver) => Ok((callable, receiver)),
            (None, Some(callable)) => Ok((callable, None)),
            (None, None) => internal("call without a callable"),
        }
    }

    pub(crate) fn pop_many(&mut self, count: usize) -> Traced<Vec<ValueId>> {
        let mut values = Vec::with_capacity(count);
        for _ in 0..count {
            values.push(self.pop()?);
        }
        values.reverse();
        Ok(values)
    }

    /// The object `depth` entries below the top; 1 is the top itself.
    pub(crate) fn peek(&self, depth: usize) -> Traced<ValueId> {
        match self.stack.len().checked_sub(depth).and_then(|index| self.stack.get(index)) {
            Some(StackEntry::Object(value)) => Ok(*value),
            other => internal(format!("expected an object {depth} below the top, found {other:?}")),
        }
    }

    /// The same for what may be a NULL.
    pub(crate) fn peek_entry(&self, depth: usize) -> Traced<Option<ValueId>> {
        match self.stack.len().checked_sub(depth).and_then(|index| self.stack.get(index)) {
            Some(StackEntry::Null) => Ok(None),
            _ => self.peek(depth).map(Some),
        }
    }

    pub(crate) fn name(&self, index: u32) -> Traced<&str> {
        self.code.names.get(index as usize).map_or_else(|| internal("name index"), |name| Ok(name.as_str()))
    }

    pub(crate) fn local_name(&self, slot: u32) -> String {
        self.code.locals.get(slot as usize).map_or_else(String::new, |local| local.name.clone())
    }
}

impl Frame {
    /// The `yield` at which a generator waits; `None` before its start.
    pub(crate) fn suspended_at(&self) -> Option<&Instr> {
        let instr = self.pc.checked_sub(1).and_then(|at| self.code.instrs.get(at))?;
        (instr.op == Op::YIELD_VALUE).then_some(instr)
    }

    /// Whether an exception thrown in there meets a handler of the program, not only the one that the compiler puts around generators.
    pub(crate) fn ends_in_code(&self, instr: &Instr) -> bool {
        let mut handler = instr.handler;
        while let Some(at) = handler {
            let target = self.code.index(at.target).and_then(|index| self.code.instrs.get(index));
            match target {
                Some(target) if target.op == Op::CLEANUP_THROW => handler = target.handler,
                Some(target) => return !(target.op == Op::CALL_INTRINSIC_1 && target.arg == STOPITERATION_ERROR),
                None => return true,
            }
        }
        false
    }
}

/// How a frame came to rest.
#[derive(Debug)]
pub(crate) enum FrameExit {
    Returned(ValueId),
    Yielded(ValueId),
    Generator,
}
