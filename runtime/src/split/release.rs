//! Short sequences of instructions, as each release writes them.
use super::constants::TransferConstants;
use crate::bytecode::{Code, Instr, Label};
use generated::opcodes::Op;
use pyo3::prelude::*;

impl Code {
    fn offers(&self, op: Op) -> bool {
        self.isa().number(op).is_some()
    }

    fn steps(&mut self, steps: &[(Op, usize)]) -> Vec<Instr> {
        steps.iter().map(|(op, arg)| self.instr(*op, *arg as u32)).collect()
    }

    /// Pushes what the slot holds, and empties it.
    pub(super) fn take_slot(&mut self, slot: usize) -> Vec<Instr> {
        if self.offers(Op::LOAD_FAST_AND_CLEAR) {
            return self.steps(&[(Op::LOAD_FAST_AND_CLEAR, slot)]);
        }
        self.steps(&[(Op::LOAD_FAST, slot), (Op::DELETE_FAST, slot)])
    }

    /// Pushes what the slot holds; raises if that is nothing.
    pub(super) fn load_checked(&mut self, slot: usize) -> Instr {
        let op = if self.offers(Op::LOAD_FAST_CHECK) { Op::LOAD_FAST_CHECK } else { Op::LOAD_FAST };
        self.instr(op, slot as u32)
    }

    /// Jumps ahead unless the value on top is true.
    pub(super) fn unless(&mut self, target: Label) -> Instr {
        let op = Op::POP_JUMP_IF_FALSE;
        let op = if self.offers(op) { op } else { Op::POP_JUMP_FORWARD_IF_FALSE };
        self.jump(op, target)
    }

    /// Begins the call of a constant, as [`Code::end_call`] ends it: two values.
    pub(super) fn begin_call(&mut self, py: Python<'_>, constants: &TransferConstants, constant: usize) -> Vec<Instr> {
        let caller = self.constant(constants.caller.bind(py).as_any()) as usize;
        self.steps(&[(Op::LOAD_CONST, caller), (Op::LOAD_CONST, constant)])
    }

    /// Begins the call of an attribute of the object that lies `depth` deep: two values.
    pub(super) fn begin_method(
        &mut self,
        py: Python<'_>,
        constants: &TransferConstants,
        depth: usize,
        name: &str,
    ) -> Vec<Instr> {
        let (caller, attribute) = (self.constant(constants.caller.bind(py).as_any()) as usize, self.attribute(name));
        self.steps(&[(Op::LOAD_CONST, caller), (Op::COPY, depth + 1), attribute])
    }

    /// Calls with this many positional arguments. Behind a call instruction the interpreter handles signals and other
    /// asynchronous exceptions, which then are raised here, where no handler of the program is: a subscription does not.
    pub(super) fn end_call(&mut self, count: usize) -> Vec<Instr> {
        vec![self.instr(Op::BUILD_TUPLE, count as u32 + 1), self.subscribe()]
    }

    /// Subscribes what lies below with the value on top.
    pub(super) fn subscribe(&mut self) -> Instr {
        let (op, arg) = self.isa().subscription();
        self.instr(op, arg)
    }

    /// Replaces the value on top by an attribute of it.
    pub(super) fn attribute(&mut self, name: &str) -> (Op, usize) {
        (Op::LOAD_ATTR, (self.name_index(name) as usize) << self.isa().name_shift(Op::LOAD_ATTR))
    }

    /// Pushes the namespace of a module's or class's body.
    pub(super) fn load_namespace(&mut self, py: Python<'_>, constants: &TransferConstants) -> Vec<Instr> {
        if self.offers(Op::LOAD_LOCALS) {
            return self.steps(&[(Op::LOAD_LOCALS, 0)]);
        }
        let function = self.constant(constants.namespace.bind(py)) as usize;
        let mut instrs = self.begin_call(py, constants, function);
        instrs.extend(self.end_call(0));
        instrs
    }

    /// What a coroutine does with what its awaitable raised on being thrown into; `done` is where the value is returned.
    /// Up to 3.11 this is C's work.
    pub(super) fn cleanup_throw(&mut self, py: Python<'_>, constants: &TransferConstants, done: Label) -> Vec<Instr> {
        if self.offers(Op::CLEANUP_THROW) {
            let mut instrs = self.steps(&[(Op::CLEANUP_THROW, 0)]);
            instrs.push(self.jump(Op::JUMP_BACKWARD_NO_INTERRUPT, done));
            return instrs;
        }
        let stop = self.constant(constants.stop_iteration.bind(py)) as usize;
        let again = self.instr(Op::RERAISE, 0);
        let value = self.attribute("value");
        let mut instrs = self.steps(&[(Op::LOAD_CONST, stop), (Op::CHECK_EXC_MATCH, 0)]);
        instrs.push(self.unless(again.id));
        instrs.extend(self.steps(&[value, (Op::SWAP, 3), (Op::POP_TOP, 0), (Op::POP_TOP, 0)]));
        instrs.push(self.jump(Op::JUMP_BACKWARD_NO_INTERRUPT, done));
        instrs.push(again);
        instrs
    }
}
