//! `RERAISE` in the native tail: the frame must stand at the instruction that the exception came from.
use super::frame_end::Frame;
use crate::bytecode::{Code, Op};
use crate::guard::source::Source;
use crate::guard::{Check, Guard, Reason};
use crate::trace::state::outcome::{End, Outcome, StackEntry};
use crate::trace::state::value::Value;
use pyo3::prelude::*;

/// `RERAISE` sets its frame back to the unit that its stack names, a unit of the root's code: in the tail it gets the place in the source
/// of that instruction instead, and leaves the frame where it is.
pub(super) fn set_position(py: Python<'_>, code: &Code, frame: &mut Frame, outcome: &mut Outcome) {
    let (Frame::Tail(tail), End::Break { at, stack, .. }) = (frame, &outcome.end) else { return };
    let Some(native) = code.instrs.get(*at).filter(|native| native.op == Op::RERAISE && native.arg > 0) else { return };
    let entry = stack.len().checked_sub(native.arg as usize + 1).and_then(|index| stack.get(index));
    let Some(StackEntry::Object(value)) = entry else { return };
    let Some(Value::Real { object, source }) = outcome.values.get(value.0 as usize) else { return };
    let unit = object.bind(py).extract::<u32>().ok();
    let Some(position) = unit.and_then(|unit| code.position_of_unit(py, unit)) else { return };
    let index = tail.split.code.index(native.id);
    let Some(instr) = index.and_then(|index| tail.split.code.instrs.get_mut(index)) else { return };
    (instr.arg, instr.position) = (0, position);
    if let Some(source) = source.as_ref().filter(|source| !matches!(source, Source::Constant(_))) {
        let reason = Reason { why: "the frame stands where the exception came from", operation: None, place: None };
        let check = Check::Equals(object.clone_ref(py));
        outcome.guards.push(Guard { source: source.clone(), check, reason });
    }
}
