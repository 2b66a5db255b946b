//! What a generator or coroutine does after a hand-over: it delegates to its continuation until that returns.
use super::super::code::Code;
use super::super::instr::{Handler, Instr, Label};
use super::hand_over::Block;
use super::{ASYNC_GENERATOR, Marks};
use generated::opcodes::Op;
use pyo3::exceptions::{PyRuntimeError, PyStopAsyncIteration, PyStopIteration};
use pyo3::prelude::*;
use pyo3::types::PyCFunction;

/// `RESUME_AFTER_YIELD_FROM`: signals are handled where the program runs, not here.
const AFTER_YIELD_FROM: u32 = 2;

impl Block<'_> {
    /// Calls the continuation with the `count` values on the stack, yields what it yields, sends it what is sent, throws
    /// into it what is thrown, and returns what it returns.
    ///
    /// For generators this is not quite `yield from`, which closes what it delegates to before a `GeneratorExit` comes in.
    /// A coroutine does await: that is how it is seen to be awaited. (So its `close()` gives `None` where the program
    /// returns something else on being closed.) Exceptions lose the traceback entry of this frame, where nothing of the
    /// program runs any more.
    pub fn delegate(&mut self, py: Python<'_>, count: usize) {
        let none = self.code.constant(py.None().bind(py));
        self.push(Op::CALL, count);
        let caught = self.untraced();
        let raised = Some(Handler { target: caught, depth: 0, lasti: false });
        let done = self.code.instr(Op::END_SEND, 0);
        // Where the interpreter runs the generator without a C call, it looks for the handler of what stands before SEND.
        let none = Instr { handler: raised, ..self.code.instr(Op::LOAD_CONST, none) };
        let send = Instr { handler: raised, ..self.code.jump(Op::SEND, done.id) };
        let awaits = self.code.flags & COROUTINE != 0;
        let given = self.code.instr(Op::YIELD_VALUE, u32::from(awaits));
        let handler = if awaits {
            Handler { target: self.cleanup(done.id, raised), depth: 2, lasti: false }
        } else {
            Handler { target: self.thrown(given.id, done.id, raised), depth: 1, lasti: false }
        };
        let given = Instr { handler: Some(handler), ..given };
        let resume = self.code.instr(Op::RESUME, AFTER_YIELD_FROM);
        let again = self.code.jump(Op::JUMP_BACKWARD_NO_INTERRUPT, send.id);
        self.instrs.extend([none, send, given, resume, again, done]);
        self.push(Op::RETURN_VALUE, 0);
    }

    /// A handler that throws what was thrown into the continuation, below it on the stack, and yields or returns what comes
    /// of that; gives its label.
    fn thrown(&mut self, given: Label, done: Label, raised: Option<Handler>) -> Label {
        let throw = self.code.name_index("throw") as usize;
        let cleanup = self.cleanup(done, raised);
        let handler = Some(Handler { target: cleanup, depth: 2, lasti: false });
        let label = self.take_off_traceback();
        let steps = [(Op::COPY, 2), (Op::LOAD_ATTR, throw << 1), (Op::PUSH_NULL, 0), (Op::COPY, 3), (Op::CALL, 1)];
        self.rescue(&steps, handler);
        self.rescue(&[(Op::SWAP, 2), (Op::POP_TOP, 0)], None);
        let back = self.code.jump(Op::JUMP_BACKWARD, given);
        self.rescue.push(back);
        label
    }

    /// A handler that goes on with the value of a `StopIteration`, and raises anything else again; gives its label.
    fn cleanup(&mut self, done: Label, raised: Option<Handler>) -> Label {
        let label = self.rescue(&[(Op::CLEANUP_THROW, 0)], raised);
        let end = self.code.jump(Op::JUMP_BACKWARD, done);
        self.rescue.push(end);
        label
    }

    /// A handler that takes the newest entry off the exception's traceback and raises again; gives its label.
    fn untraced(&mut self) -> Label {
        let label = self.take_off_traceback();
        self.rescue(&[(Op::RERAISE, 0)], None);
        label
    }

    fn take_off_traceback(&mut self) -> Label {
        let (traceback, next) =
            (self.code.name_index("__traceback__") as usize, self.code.name_index("tb_next") as usize);
        let steps = [
            (Op::COPY, 1),
            (Op::COPY, 1),
            (Op::LOAD_ATTR, traceback << 1),
            (Op::LOAD_ATTR, next << 1),
            (Op::SWAP, 2),
            (Op::STORE_ATTR, traceback),
        ];
        self.rescue(&steps, None)
    }

    /// Adds instructions after the block; gives the first one's label.
    fn rescue(&mut self, steps: &[(Op, usize)], handler: Option<Handler>) -> Label {
        let start = self.rescue.len();
        for (op, arg) in steps {
            let instr = self.code.instr(*op, *arg as u32);
            self.rescue.push(Instr { handler, ..instr });
        }
        self.rescue[start].id
    }
}

const COROUTINE: u32 = 0x80;
/// `INTRINSIC_STOPITERATION_ERROR`.
const STOPITERATION_ERROR: u32 = 3;

/// An asynchronous generator delegates to a coroutine: what is yielded is wrapped already, and passes through. Only the
/// errors for exceptions that must not leave an asynchronous generator are made otherwise.
pub(super) fn serve(py: Python<'_>, code: &mut Code, marks: &Marks) {
    if code.flags & ASYNC_GENERATOR == 0 {
        return;
    }
    code.flags = code.flags & !ASYNC_GENERATOR | COROUTINE;
    let error = code.constant(marks.stop_error.bind(py));
    let mut index = 0;
    while index < code.instrs.len() {
        let instr = code.instrs[index];
        if instr.op == Op::CALL_INTRINSIC_1 && instr.arg == STOPITERATION_ERROR {
            let rest = [(Op::PUSH_NULL, 0), (Op::COPY, 3), (Op::CALL, 1), (Op::SWAP, 2), (Op::POP_TOP, 0)];
            let rest = rest.map(|(op, arg)| Instr { position: instr.position, ..code.instr(op, arg) });
            code.instrs[index] = Instr { op: Op::LOAD_CONST, arg: error, ..instr };
            code.insert(index + 1, rest);
        }
        index += 1;
    }
}

/// The function that gives the exception to raise in place of one that reached the end of an asynchronous generator.
pub(super) fn stop_error(py: Python<'_>) -> PyResult<Bound<'_, PyCFunction>> {
    PyCFunction::new_closure(py, None, None, |args, _| -> PyResult<Py<PyAny>> {
        let (py, raised) = (args.py(), args.get_item(0)?);
        let message = if raised.is_instance_of::<PyStopIteration>() {
            "async generator raised StopIteration"
        } else if raised.is_instance_of::<PyStopAsyncIteration>() {
            "async generator raised StopAsyncIteration"
        } else {
            return Ok(raised.unbind());
        };
        let error = PyRuntimeError::new_err(message).into_value(py);
        error.setattr(py, "__cause__", &raised)?;
        error.setattr(py, "__context__", &raised)?;
        Ok(error.into_any())
    })
}
