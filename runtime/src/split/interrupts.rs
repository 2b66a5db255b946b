//! Where the interpreter handles signals and other asynchronous exceptions: a split keeps every such place, and the handlers
//! of the program that apply there.
//!
//! It does so in `RESUME` where the frame does not delegate, after calls, and on jumping backward. Nothing of a transfer is
//! among these (see `Code::end_call`, and the `RESUME` of continuations). Up to 3.12 a jump is made before signals are handled:
//! what is raised goes to the handler of the instruction that stands before the jump's target.
use crate::bytecode::{Code, Handler, Instr, Isa, Label};
use generated::opcodes::Op;

/// Whether signals are handled on jumping.
fn handles(isa: Isa, op: Op) -> bool {
    isa.jumps_backward(op) && !matches!(op, Op::JUMP_BACKWARD_NO_INTERRUPT | Op::END_ASYNC_FOR)
}

/// Whether that happens after the jump.
fn after_jumping(isa: Isa) -> bool {
    isa.minor() < 13
}

/// The instruction whose handler gets what is raised on jumping, where that is not the jump itself.
pub(super) fn raising<'a>(code: &'a Code, jump: &Instr) -> Option<&'a Instr> {
    let isa = code.isa();
    let target = jump.target.filter(|_| handles(isa, jump.op) && after_jumping(isa))?;
    code.instrs.get(code.index(target)?.checked_sub(1)?)
}

/// Where a jump that handles signals is to go, so that it stays one: to a jump ahead, right before it, that goes on to
/// `block`. What signals raise after jumping goes to `handler`.
pub(super) fn land(code: &mut Code, jump: &Instr, block: Label, handler: Option<Handler>) -> Label {
    let Some(index) = code.index(jump.id).filter(|_| handles(code.isa(), jump.op)) else { return block };
    let over = Instr { handler, position: jump.position, ..code.jump(Op::JUMP_FORWARD, jump.id) };
    let landing = Instr { position: jump.position, ..code.jump(Op::JUMP_FORWARD, block) };
    code.insert(index, [over, landing]);
    landing.id
}

/// Keeps the handler of what stood before `target` there, if jumps back to it find what signals raise handled by that.
pub(super) fn keep(code: &mut Code, original: &Code, target: Label, handler: Option<Handler>) {
    let isa = code.isa();
    let comes = |instr: &Instr| instr.target == Some(target) && handles(isa, instr.op);
    if !after_jumping(isa) || !original.instrs.iter().any(comes) {
        return;
    }
    if let Some(index) = code.index(target) {
        let mark = Instr { handler, ..code.instr(Op::NOP, 0) };
        code.insert(index, [mark]);
    }
}

/// A check for signals, before which `handler` applies, and then a jump to `target`.
#[cfg(slotrt_traces)]
pub(crate) fn check(code: &mut Code, target: Label, handler: Option<Handler>) -> [Instr; 3] {
    let landing = code.jump(Op::JUMP_FORWARD, target);
    let back = code.jump(Op::JUMP_BACKWARD, landing.id);
    let over = code.jump(Op::JUMP_FORWARD, back.id);
    [over, landing, back].map(|instr| Instr { handler, ..instr })
}
