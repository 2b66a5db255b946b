//! The state of a frame where its trace broke.
use super::failure::{Failure, fault};
use crate::bytecode::Code;
use crate::bytecode::shape::{Bound as Bounded, Entry, State};
use crate::split::Refusal;
use crate::trace::state::outcome::StackEntry;
use crate::trace::state::value::ValueId;

/// The state at the break: control flow knows which entries belong to exception handling, the trace the rest.
pub(super) fn state(
    code: &Code,
    at: usize,
    stack: &[StackEntry],
    locals: &[Option<ValueId>],
) -> Result<State, Failure> {
    let mut shape = code.state_before(at).ok_or(Refusal::Unreachable(at))?.stack;
    if shape.len() != stack.len() || code.locals.len() != locals.len() {
        let text = format!("at instruction {at} the trace has {} stack entries, the code {}", stack.len(), shape.len());
        return Err(fault(text));
    }
    for (known, traced) in shape.iter_mut().zip(stack) {
        if !matches!(known, Entry::PreviousException | Entry::Unit) {
            *known = if *traced == StackEntry::Null { Entry::Null } else { Entry::Object };
        }
    }
    let bound = locals.iter().map(|traced| if traced.is_some() { Bounded::Yes } else { Bounded::No });
    Ok(State { stack: shape, bound: bound.collect() })
}

/// The exception that came to be handled where this entry of the stack holds the one handled before.
pub(super) fn handled_at(
    index: usize,
    stack: &[StackEntry],
    state: &State,
    handled: Option<ValueId>,
) -> Result<ValueId, Failure> {
    let previous = |later: &usize| state.stack.get(*later) == Some(&Entry::PreviousException);
    let now = match (index + 1..stack.len()).find(previous).map(|later| stack[later]) {
        Some(StackEntry::Object(value)) => Some(value),
        Some(StackEntry::Null | StackEntry::Callee) => None,
        None => handled,
    };
    now.ok_or_else(|| Failure::Refused("which exception is handled is not known".into()))
}
