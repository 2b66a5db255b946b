//! A stretch of calls that run natively, one after the other, with no graph work between: it runs as a whole, whatever the values are, up to
//! the call where the trace broke.
use super::assemble::assemble_split;
use super::emit_frame::EmittedCode;
use super::failure::Failure;
use super::frame_state::state;
use super::host::Host;
use super::rebuild::Rebuild;
use crate::bytecode::shape::{Entry, State};
use crate::bytecode::{Code, Op};
use crate::ffi::surviving_frames;
use crate::graph::NodeOp;
use crate::graph_break::{ASKED_FOR, STRETCHES};
use crate::guard::source::Source;
use crate::guard::{Guard, Program, Reason, unobserved};
use crate::names::name;
use crate::split::split;
use crate::trace::state::outcome::{End, Outcome};
use pyo3::prelude::*;

/// So many instructions cost less than the guards of their trace, whatever it is that runs natively after them.
const FEW: u64 = 32;

/// Whether a continuation's trace has found nothing but the next call that runs natively, and got there without a choice.
#[must_use]
pub fn is_native_stretch(code: &Code, outcome: &Outcome) -> bool {
    let End::Break { at, inner, reason, .. } = &outcome.end else { return false };
    let records = || outcome.graph.nodes.iter().any(|node| node.op == NodeOp::CallFunction);
    let acts = || !outcome.effects.is_empty() || !outcome.acquired_first.is_empty() || !outcome.signals.is_empty();
    let is_short = || outcome.steps <= FEW && !outcome.breaks_are_errors && !ASKED_FOR.contains(&&*reason.kind);
    // A frame that somebody has the object of gets its variables from code that the trace is behind.
    let is_seen = surviving_frames::exist();
    !is_seen
        && (STRETCHES.contains(&&*reason.kind) || is_short())
        && inner.is_empty()
        && !records()
        && !acts()
        && is_straight(code, *at)
}

/// Whether control comes from the code's start to an instruction whatever the values are, unless something raises: then it must not come
/// there by a handler, with other variables than the trace had.
fn is_straight(code: &Code, at: usize) -> bool {
    let (mut index, mut handlers) = (0, Vec::new());
    for _ in 0..=code.instrs.len() {
        let Some(instr) = code.instrs.get(index) else { return false };
        if index == at {
            let leading = code.leading(at, &code.indices());
            return !handlers.iter().any(|handler| leading[*handler]);
        }
        handlers.extend(instr.handler.and_then(|handler| code.index(handler.target)));
        index = match (instr.op, instr.target) {
            (Op::JUMP_FORWARD | Op::JUMP_BACKWARD | Op::JUMP_BACKWARD_NO_INTERRUPT, Some(target)) => {
                let Some(next) = code.index(target) else { return false };
                next
            }
            (_, Some(_)) => return false,
            (op, None) if code.isa().ends_block(op) => return false,
            (_, None) => index + 1,
        };
    }
    false
}

/// The state with what natively run loads of methods leave: an unbound function with its object, or a bound method with NULL. That is not
/// the trace's choice, and once CPython has specialised the load it may be another one.
fn as_it_comes(code: &Code, at: usize, mut state: State) -> State {
    let known = code.state_before(at).into_iter().flat_map(|state| state.stack);
    for (traced, known) in state.stack.iter_mut().zip(known) {
        if known == Entry::ObjectOrNull {
            *traced = known;
        }
    }
    state
}

/// The code of such a continuation.
pub fn emit_native_stretch<'py>(
    py: Python<'py>,
    code: &Code,
    function: &Bound<'py, PyAny>,
    outcome: &Outcome,
    host: &dyn Host,
) -> Result<EmittedCode, Failure> {
    let End::Break { at, stack, locals, .. } = &outcome.end else {
        return Err(Failure::Refused("the trace does not end at a call".into()));
    };
    let state = as_it_comes(code, *at, state(code, *at, stack, locals)?);
    let function = assemble_split(py, function, split(py, code, *at, &state, host.constants())?, host)?;
    let code = function.bind(py).getattr(name!("__code__"))?.unbind();
    let reason = Reason { why: "the frame's variables end with it", operation: None, place: None };
    let guard = Guard { source: Source::constant(py.None().bind(py)), check: unobserved::check(), reason };
    let guards = vec![guard];
    let rebuild = Rebuild::of_guards(&guards);
    Ok(EmittedCode { function, code, guards: Program::new(py, guards)?, graph: None, rebuild, ops: 0 })
}
