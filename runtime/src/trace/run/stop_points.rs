//! Where a trace can stop: in its outermost frame, and in frames that call instructions of such frames enter.
//!
//! An entered frame goes on in a continuation of its own; the call instruction calls that continuation.
use crate::bytecode::{Code, Op};
use crate::trace::state::frame::Frame;
use crate::trace::state::outcome::{NestedFrame, StackEntry};
use crate::trace::state::stop_points::{CallOrigin, StopPoints};
use crate::trace::state::tracer::Tracer;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

impl<'py> Tracer<'py> {
    /// Whether the frame's next instruction is one before which the trace can stop. Where a traceback names a frame that was
    /// entered, that frame itself must go on.
    pub(crate) fn counts(&self, frame: &Frame) -> bool {
        let inner = || frame.pc >= frame.leave.first && !self.is_named(frame.serial);
        (frame.outermost || frame.leave.possible && inner()) && !frame.put_in.contains(&frame.pc)
    }

    /// How the running instruction of a frame calls.
    pub(crate) fn call_origin(&self, frame: &Frame) -> CallOrigin {
        if !self.counts(frame) {
            return CallOrigin::Within;
        }
        let sheltered = frame.code.instrs.get(frame.pc).is_none_or(|instr| instr.handler.is_some());
        CallOrigin::Instruction { exposed: frame.leave.exposed && !sheltered }
    }

    /// Whether and where the trace can stop in a frame that is entered.
    pub(crate) fn stop_points_of(&self, origin: CallOrigin, code: &Code, globals: &Bound<'py, PyAny>) -> StopPoints {
        match StopPoints::of(origin, code) {
            leave if leave.possible && !self.are_of_one_call(globals) => leave,
            _ => StopPoints::default(),
        }
    }

    /// An inlined frame stops where it stands.
    pub(crate) fn nested_frames(&mut self, frame: &mut Frame) {
        let entered = self.entered(frame);
        self.state.nested_frames.push(entered);
    }

    /// Where a frame stands: before an instruction, or at the call that entered the frame that stopped before it did.
    pub(crate) fn entered(&mut self, frame: &mut Frame) -> NestedFrame {
        if !self.state.nested_frames.is_empty() {
            self.put_back_operands(frame);
        }
        NestedFrame {
            function: frame.function.clone_ref(self.py),
            code: frame.code.clone(),
            at: frame.began,
            stack: std::mem::take(&mut frame.stack),
            locals: std::mem::take(&mut frame.locals),
            handled: *self.state.exc_info,
        }
    }

    /// What the call instruction pops: a callable that needs no arguments, and some.
    fn put_back_operands(&mut self, frame: &mut Frame) {
        let Some(call) = frame.code.instrs.get(frame.pc) else { return };
        frame.stack.extend(match frame.code.isa().null_comes_first() {
            true => [StackEntry::Null, StackEntry::Callee],
            false => [StackEntry::Callee, StackEntry::Null],
        });
        let (op, arg) = (call.op, call.arg);
        let no_names = || PyTuple::empty(self.py).into_any();
        if op == Op::CALL_FUNCTION_EX {
            let args = no_names();
            let args = self.constant(args);
            frame.push(args);
            // From 3.14 on what stands for no keywords is a NULL.
            if frame.code.isa().minor() > 13 {
                frame.stack.push(StackEntry::Null);
            } else if arg & 1 == 1 {
                let keywords = self.own(PyDict::new(self.py).into_any());
                frame.push(keywords);
            }
            return;
        }
        let none = self.none();
        (0..arg).for_each(|_| frame.push(none));
        if op == Op::CALL_KW {
            let names = PyTuple::empty(self.py).into_any();
            let names = self.constant(names);
            frame.push(names);
        }
    }
}
