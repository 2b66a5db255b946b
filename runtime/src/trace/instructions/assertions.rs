//! Branches on contents of arrays whose other side only raises: `assert (x > 0).all()`, `if x.isnan().any(): raise …`.
//!
//! The trace goes on where nothing is raised, and the graph checks that. Where the check fails the graph raises, the frame runs its
//! original code from the start, and that raises what the program raises.
use crate::bytecode::{Code, Op};
use crate::domain::{Callee, Domain, Operand};
use crate::trace::state::frame::Frame;
use crate::trace::state::numbers::TakenNumbers;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::Traced;
use crate::trace::state::value::{Value, ValueId};
use std::sync::Arc;

impl<'py> Tracer<'py> {
    /// `PyObject_IsTrue` of what a branch tests.
    pub(crate) fn branch_truth(&mut self, frame: &Frame, value: ValueId) -> Traced<bool> {
        if let Some(truth) = self.checked_truth(frame, value)? {
            return Ok(truth);
        }
        match self.guessed_truth(value)? {
            Some(truth) => Ok(truth),
            None => self.is_true(value),
        }
    }

    /// The truth that a value must have for the branch of the next instruction, or of this one, to raise nothing; the graph checks it.
    /// `None`: it is no such branch, or no such value.
    fn checked_truth(&mut self, frame: &Frame, value: ValueId) -> Traced<Option<bool>> {
        // Most comparisons give a truth that is known.
        if !matches!(self.value(value), Value::Node { .. } | Value::Real { source: Some(_), .. }) {
            return Ok(None);
        }
        let Some(truth) = truth_without_raise(&frame.code, frame.pc) else { return Ok(None) };
        if self.is_unread(value) {
            return self.check_unread(value, truth);
        }
        let class = self.class_of(value)?;
        let is_seen = |domain: &Arc<dyn Domain>| self.has_taking_modes() || domain.takes_over(&class);
        let Some(domain) = self.domain_of(&class).filter(|domain| !is_seen(domain)) else { return Ok(None) };
        let Operand::Graph { example, .. } = self.operand_of(value, TakenNumbers::None)? else { return Ok(None) };
        let Some(checks) = domain.checks_of_truth(&example, truth) else { return Ok(None) };
        let mut checked = value;
        for check in checks {
            checked = self.call_domain(&domain, Callee::Function(check), &[checked], &[])?;
        }
        Ok(Some(truth))
    }
}

/// The truth with which a branch at `at`, or right after it, goes on where the other side does nothing but raise.
pub(super) fn truth_without_raise(code: &Code, at: usize) -> Option<bool> {
    let at = at + usize::from(matches!(code.instrs.get(at)?.op, Op::TO_BOOL | Op::COMPARE_OP));
    let branch = code.instrs.get(at)?;
    let jumps_if = match branch.op {
        Op::POP_JUMP_IF_TRUE | Op::POP_JUMP_FORWARD_IF_TRUE => true,
        Op::POP_JUMP_IF_FALSE | Op::POP_JUMP_FORWARD_IF_FALSE => false,
        _ => return None,
    };
    let target = code.index(branch.target?)?;
    let (taken, next) = (only_raises(code, target), only_raises(code, at + 1));
    let raises = if taken { target } else { at + 1 };
    (taken != next && !leaves_loop(code, at, raises)).then_some(jumps_if != taken)
}

/// Whether an instruction lies in a loop that no iterator ends, and another one behind it: a trace that goes on in the loop each time would
/// never end.
pub(super) fn leaves_loop(code: &Code, at: usize, other: usize) -> bool {
    let is_begin = |begin: usize| begin <= at && code.instrs.get(begin).is_some_and(|instr| instr.op != Op::FOR_ITER);
    let jumps_back = |target| code.index(target).is_some_and(is_begin);
    let ends = code.instrs.iter().enumerate().skip(at + 1).filter(|(_, instr)| instr.target.is_some_and(jumps_back));
    ends.map(|(end, _)| end).any(|end| end < other)
}

/// How many instructions are looked at.
const MOST: usize = 200;

/// Whether all that may run from here on comes to a `raise`, and nothing in the frame catches that.
fn only_raises(code: &Code, from: usize) -> bool {
    let (mut waiting, mut seen) = (vec![from], Vec::new());
    while let Some(at) = waiting.pop() {
        let Some(instr) = code.instrs.get(at).filter(|instr| seen.len() < MOST && instr.handler.is_none()) else {
            return false;
        };
        if instr.op == Op::RAISE_VARARGS || seen.contains(&at) {
            continue;
        }
        seen.push(at);
        // What jumps back may never end.
        let target = instr.target.map(|target| code.index(target).filter(|target| *target > at));
        let goes_on = !code.isa().ends_block(instr.op);
        if target == Some(None) || target.is_none() && !goes_on || instr.op == Op::YIELD_VALUE {
            return false;
        }
        waiting.extend(target.flatten());
        waiting.extend(goes_on.then_some(at + 1));
    }
    true
}
