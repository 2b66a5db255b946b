//! The rest of an asynchronous generator: it runs as a coroutine that the generator delegates to.
use super::constants::TransferConstants;
use crate::bytecode::{Code, Handler, Instr, STOPITERATION_ERROR, flag};
use generated::opcodes::Op;
use pyo3::prelude::*;

/// An asynchronous generator delegates to a coroutine: what is yielded is wrapped already, and passes through. Only the
/// errors for exceptions that must not leave an asynchronous generator are made otherwise. `None` for other code.
pub(super) fn as_coroutine(py: Python<'_>, code: &Code, constants: &TransferConstants) -> Option<Code> {
    if code.flags & flag::ASYNC_GENERATOR == 0 {
        return None;
    }
    let mut code = code.duplicate(py);
    convert(py, &mut code, constants);
    Some(code)
}

fn convert(py: Python<'_>, code: &mut Code, constants: &TransferConstants) {
    code.flags = code.flags & !flag::ASYNC_GENERATOR | flag::COROUTINE;
    if code.isa().number(Op::CALL_INTRINSIC_1).is_none() {
        return guard(py, code, constants);
    }
    let mut index = 0;
    while index < code.instrs.len() {
        let instr = code.instrs[index];
        if instr.op == Op::CALL_INTRINSIC_1 && instr.arg == STOPITERATION_ERROR {
            let steps =
                exchange(py, code, constants).into_iter().map(|step| Instr { position: instr.position, ..step });
            let steps: Vec<Instr> = steps.collect();
            let handler = instr.handler;
            code.insert(index + 1, steps.into_iter().map(|step| Instr { handler, ..step }));
            code.instrs[index] = Instr { op: Op::NOP, arg: 0, ..instr };
        }
        index += 1;
    }
}

/// Replaces the exception on top of the stack by the one to raise in its place.
fn exchange(py: Python<'_>, code: &mut Code, constants: &TransferConstants) -> Vec<Instr> {
    let error = code.constant(constants.stop_error.bind(py)) as usize;
    let mut instrs = code.begin_call(py, constants, error);
    instrs.push(code.instr(Op::COPY, 3));
    instrs.extend(code.end_call(1));
    instrs.extend([code.instr(Op::SWAP, 2), code.instr(Op::POP_TOP, 0)]);
    instrs
}

/// Up to 3.11 it is C that changes what leaves a generator: a handler around everything does it here.
fn guard(py: Python<'_>, code: &mut Code, constants: &TransferConstants) {
    let mut block = exchange(py, code, constants);
    block.push(code.instr(Op::RERAISE, 0));
    let handler = block.first().map(|first| Handler { target: first.id, depth: 0, lasti: false });
    let start = code.start().unwrap_or(code.instrs.len());
    for instr in &mut code.instrs[start..] {
        instr.handler = instr.handler.or(handler);
    }
    code.instrs.extend(block);
}
