//! Operations on the value stack alone.
use crate::bytecode::Op;
use crate::bytecode::shape::{Entry, State};
use crate::trace::state::frame::{Flow, Frame};
use crate::trace::state::outcome::StackEntry;
use crate::trace::state::unwind::{Traced, internal, unsupported};

pub(crate) fn pop_top(frame: &mut Frame) -> Traced<Flow> {
    frame.pop_entry().map(|_| Flow::Next)
}

/// After a loop; up to 3.12 it takes the iterator too.
pub(crate) fn end_for(frame: &mut Frame) -> Traced<Flow> {
    if frame.code.isa().loop_end() == [Op::END_FOR] {
        frame.pop_entry()?;
    }
    pop_top(frame)
}

/// `[receiver, value]` → `[value]`.
pub(crate) fn end_send(frame: &mut Frame) -> Traced<Flow> {
    let value = frame.pop()?;
    frame.pop_iterator()?;
    frame.push(value);
    Ok(Flow::Next)
}

pub(crate) fn push_null(frame: &mut Frame) -> Traced<Flow> {
    frame.stack.push(StackEntry::Null);
    Ok(Flow::Next)
}

pub(crate) fn copy(frame: &mut Frame, depth: u32) -> Traced<Flow> {
    let index = frame.stack.len().checked_sub(depth as usize);
    match index.and_then(|index| frame.stack.get(index)).copied() {
        Some(entry) => frame.stack.push(entry),
        None => return internal("COPY below the stack"),
    }
    Ok(Flow::Next)
}

pub(crate) fn swap(frame: &mut Frame, depth: u32) -> Traced<Flow> {
    let length = frame.stack.len();
    match length.checked_sub(depth as usize) {
        Some(index) if index < length => frame.stack.swap(index, length - 1),
        _ => return internal("SWAP below the stack"),
    }
    Ok(Flow::Next)
}

/// `NOP`: nothing; or, at a depth, a prologue has made an integer of an object on the stack. A place in code, as handlers get it, is an object in a trace; an index by
/// which a generator reads a sequence is nothing.
pub(crate) fn tagged(frame: &Frame, depth: u32) -> Traced<Flow> {
    if depth == 0 {
        return Ok(Flow::Next);
    }
    let index = |state: State| state.stack.iter().rev().nth(depth as usize - 1) == Some(&Entry::IndexOrNull);
    match frame.peek_entry(depth as usize)? {
        Some(_) if frame.code.state_before(frame.pc + 1).is_some_and(index) => {
            unsupported("sequence that a generator reads by an index", "it goes on in the middle of one")
        }
        _ => Ok(Flow::Next),
    }
}
