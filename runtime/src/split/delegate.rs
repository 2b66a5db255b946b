//! What a generator or coroutine does after a transfer: it delegates to its continuation until that returns.
use super::block::Block;
use super::constants::TransferConstants;
use crate::bytecode::{Handler, Instr, Isa, Label, flag};
use generated::opcodes::Op;
use pyo3::prelude::*;

/// `RESUME_AFTER_YIELD`.
const AFTER_YIELD: u32 = 1;
/// `RESUME_AFTER_YIELD_FROM`: signals are handled where the program runs, not here.
const AFTER_YIELD_FROM: u32 = 2;

impl Block<'_> {
    /// Calls the continuation with the `count` values on the stack, yields what it yields, sends it what is sent, throws
    /// into it what is thrown, and returns what it returns.
    ///
    /// This is not quite `yield from`, which closes what it delegates to before a `GeneratorExit` comes in. A coroutine does await: that is
    /// how it is seen to be awaited.
    /// Exceptions lose the traceback entry of this frame, where nothing of the program runs any more.
    pub fn delegate(&mut self, py: Python<'_>, count: usize, constants: &TransferConstants) {
        let none = self.code.constant(py.None().bind(py));
        let call = self.code.end_call(count);
        self.instrs.extend(call);
        let caught = self.untraced();
        let raised = Some(Handler { target: caught, depth: 0, lasti: false });
        let isa = self.code.isa();
        // Where END_SEND does not drop the continuation, SEND has done so.
        let drops = isa.number(Op::END_SEND).is_some();
        let done = self.code.instr(if drops { Op::END_SEND } else { Op::NOP }, 0);
        // Where the interpreter runs the generator without a C call, it looks for the handler of what stands before SEND.
        let none = Instr { handler: raised, ..self.code.instr(Op::LOAD_CONST, none) };
        let second = isa.pairs_iterators().then(|| Instr { handler: raised, ..self.code.instr(Op::PUSH_NULL, 0) });
        let places = self.places();
        let send = Instr { handler: raised, ..self.code.jump(Op::SEND, done.id) };
        let awaits = self.code.flags & flag::COROUTINE != 0;
        let given = self.code.instr(Op::YIELD_VALUE, yielded(isa, awaits));
        let target = self.thrown(py, constants, given.id, done.id, raised);
        let handler = Some(Handler { target, depth: places, lasti: false });
        let given = Instr { handler, ..given };
        let resume = self.resume(awaits, handler);
        let back = self.code.jump(Op::JUMP_BACKWARD_NO_INTERRUPT, send.id);
        let start = second.map_or(none.id, |second| second.id);
        self.instrs.extend(second.into_iter().chain([none, send, given, resume, back, done]));
        self.follow(py, constants, start);
    }

    /// Places of the stack that what is delegated to takes.
    fn places(&self) -> u32 {
        1 + u32::from(self.code.isa().pairs_iterators())
    }

    /// Returns the value on top, or begins anew with what continues after it, where it is a packet.
    fn follow(&mut self, py: Python<'_>, constants: &TransferConstants, start: Label) {
        let follower = self.code.constant(constants.follower.bind(py).as_any()) as usize;
        let none = self.code.constant(py.None().bind(py)) as usize;
        self.push(Op::LOAD_CONST, follower);
        self.push(Op::COPY, 2);
        let subscribe = self.code.subscribe();
        self.instrs.push(subscribe);
        self.push(Op::COPY, 1);
        self.push(Op::LOAD_CONST, none);
        self.push(Op::IS_OP, 0);
        let next = self.code.instr(Op::SWAP, 2);
        let unless = self.code.unless(next.id);
        self.instrs.push(unless);
        self.push(Op::POP_TOP, 0);
        self.push(Op::RETURN_VALUE, 0);
        self.instrs.push(next);
        self.push(Op::POP_TOP, 0);
        let back = self.code.jump(Op::JUMP_BACKWARD_NO_INTERRUPT, start);
        self.instrs.push(back);
    }

    /// Where the frame goes on. Up to 3.12 the argument says whether it delegates in C's eyes; where it does not, signals are
    /// handled here, and go the way of what is thrown.
    fn resume(&mut self, awaits: bool, thrown: Option<Handler>) -> Instr {
        if self.code.isa().minor() < 13 && !awaits {
            return Instr { handler: thrown, ..self.code.instr(Op::RESUME, AFTER_YIELD) };
        }
        self.code.instr(Op::RESUME, AFTER_YIELD_FROM)
    }

    /// A handler that throws what was thrown into the continuation, below it on the stack, and yields or returns what comes
    /// of that; gives its label.
    fn thrown(
        &mut self,
        py: Python<'_>,
        constants: &TransferConstants,
        given: Label,
        done: Label,
        raised: Option<Handler>,
    ) -> Label {
        let cleanup = self.cleanup(py, constants, done, raised);
        let places = self.places();
        let handler = Some(Handler { target: cleanup, depth: places + 1, lasti: false });
        let label = self.take_off_traceback();
        let mut instrs = self.code.begin_method(py, constants, places as usize + 1, "raise_in");
        instrs.push(self.code.instr(Op::COPY, 3));
        instrs.extend(self.code.end_call(1));
        self.handlers.extend(instrs.into_iter().map(|instr| Instr { handler, ..instr }));
        self.handler(&[(Op::SWAP, 2), (Op::POP_TOP, 0)], None);
        let back = self.code.jump(Op::JUMP_BACKWARD_NO_INTERRUPT, given);
        self.handlers.push(back);
        label
    }

    /// A handler that goes on with the value of a `StopIteration`, and raises anything else again; gives its label.
    fn cleanup(
        &mut self,
        py: Python<'_>,
        constants: &TransferConstants,
        done: Label,
        raised: Option<Handler>,
    ) -> Label {
        let instrs = self.code.cleanup_throw(py, constants, done);
        let label = instrs.first().map_or(done, |first| first.id);
        let raises = |instr: &Instr| instr.op != Op::JUMP_BACKWARD_NO_INTERRUPT;
        self.handlers
            .extend(instrs.into_iter().map(|instr| Instr { handler: raised.filter(|_| raises(&instr)), ..instr }));
        label
    }

    /// A handler that takes the newest entry off the exception's traceback and raises again; gives its label.
    fn untraced(&mut self) -> Label {
        let label = self.take_off_traceback();
        self.handler(&[(Op::RERAISE, 0)], None);
        label
    }

    fn take_off_traceback(&mut self) -> Label {
        let (traceback, next) = (self.code.attribute("__traceback__"), self.code.attribute("tb_next"));
        let store = (Op::STORE_ATTR, self.code.name_index("__traceback__") as usize);
        self.handler(&[(Op::COPY, 1), (Op::COPY, 1), traceback, next, (Op::SWAP, 2), store], None)
    }

    /// Adds instructions after the block; gives the first one's label.
    fn handler(&mut self, steps: &[(Op, usize)], handler: Option<Handler>) -> Label {
        let start = self.handlers.len();
        for (op, arg) in steps {
            let instr = self.code.instr(*op, *arg as u32);
            self.handlers.push(Instr { handler, ..instr });
        }
        self.handlers[start].id
    }
}

/// The argument of `YIELD_VALUE`: from 3.13 on whether it delegates, in 3.12 how many handlers there are around it (with
/// only the generator's own, closing it runs nothing), before that none.
fn yielded(isa: Isa, awaits: bool) -> u32 {
    match isa.minor() {
        ..=11 => 0,
        12 => 2,
        _ => u32::from(awaits),
    }
}
