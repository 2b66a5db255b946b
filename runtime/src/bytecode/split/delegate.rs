//! What a generator or coroutine does after a hand-over: it delegates to its continuation until that returns.
use super::super::code::Code;
use super::super::instr::{Handler, Instr, Label};
use super::hand_over::Block;
use super::{ASYNC_GENERATOR, Marks};
use generated::opcodes::Op;
use pyo3::exceptions::{PyRuntimeError, PyStopAsyncIteration, PyStopIteration};
use pyo3::prelude::*;
use pyo3::types::PyCFunction;

/// `RESUME_AFTER_YIELD_FROM`.
const AFTER_YIELD_FROM: u32 = 2;

impl Block<'_> {
    /// Calls the continuation with the `count` values on the stack, and returns what it returns: `yield from` as the
    /// compiler writes it. Exceptions lose the traceback entry of this frame, where nothing of the program runs any more.
    pub fn delegate(&mut self, py: Python<'_>, count: usize) {
        let none = self.code.constant(py.None().bind(py));
        self.push(Op::CALL, count);
        let caught = self.untraced();
        let thrown = self.code.instr(Op::CLEANUP_THROW, 0);
        let done = self.code.instr(Op::END_SEND, 0);
        let raised = Some(Handler { target: caught, depth: 0, lasti: false });
        // Where the interpreter runs the generator without a C call, it looks for the handler of what stands before SEND.
        let none = Instr { handler: raised, ..self.code.instr(Op::LOAD_CONST, none) };
        let send = Instr { handler: raised, ..self.code.jump(Op::SEND, done.id) };
        let given = self.code.instr(Op::YIELD_VALUE, 1);
        let given = Instr { handler: Some(Handler { target: thrown.id, depth: 2, lasti: false }), ..given };
        let resume = self.code.instr(Op::RESUME, AFTER_YIELD_FROM);
        let again = self.code.jump(Op::JUMP_BACKWARD_NO_INTERRUPT, send.id);
        self.instrs.extend([none, send, given, resume, again, done]);
        self.push(Op::RETURN_VALUE, 0);
        let back = self.code.jump(Op::JUMP_BACKWARD, done.id);
        self.rescue.extend([Instr { handler: raised, ..thrown }, back]);
    }

    /// A handler that takes the newest entry off the exception's traceback and raises again; gives its label.
    fn untraced(&mut self) -> Label {
        let (traceback, next) =
            (self.code.name_index("__traceback__") as usize, self.code.name_index("tb_next") as usize);
        let steps = [
            (Op::COPY, 1),
            (Op::COPY, 1),
            (Op::LOAD_ATTR, traceback << 1),
            (Op::LOAD_ATTR, next << 1),
            (Op::SWAP, 2),
            (Op::STORE_ATTR, traceback),
            (Op::RERAISE, 0),
        ];
        let instrs: Vec<Instr> = steps.into_iter().map(|(op, arg)| self.code.instr(op, arg as u32)).collect();
        let label = instrs[0].id;
        self.rescue.extend(instrs);
        label
    }
}

const GENERATOR: u32 = 0x20;
/// `INTRINSIC_STOPITERATION_ERROR`.
const STOPITERATION_ERROR: u32 = 3;

/// An asynchronous generator delegates to a generator: what is yielded is wrapped already, and passes through. Only the
/// errors for exceptions that must not leave an asynchronous generator are made otherwise.
pub(super) fn serve(py: Python<'_>, code: &mut Code, marks: &Marks) {
    if code.flags & ASYNC_GENERATOR == 0 {
        return;
    }
    code.flags = code.flags & !ASYNC_GENERATOR | GENERATOR;
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
