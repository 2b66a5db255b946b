//! A Python frame that runs symbolically: stack, locals, and the loop over its instructions.
use crate::bytecode::{Code, Instr, Label, Op};
use crate::trace::state::outcome::StackEntry;
use crate::trace::state::tracer::{Place, Tracer};
use crate::trace::state::unwind::{Signal, Traced, fallback, internal, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// One frame.
#[derive(Debug)]
pub struct Frame {
    pub(crate) function: Py<PyAny>,
    pub(crate) code: Arc<Code>,
    pub(crate) globals: Py<PyDict>,
    pub(crate) builtins: Py<PyDict>,
    /// The function that runs, for `COPY_FREE_VARS`.
    pub(crate) closure: Vec<ValueId>,
    /// The namespace of a class body.
    pub(crate) namespace: Option<ValueId>,
    pub(crate) pc: usize,
    pub(crate) stack: Vec<StackEntry>,
    pub(crate) locals: Vec<Option<ValueId>>,
    pub(crate) outermost: bool,
    /// Whether and where the trace can stop in this frame.
    pub(crate) leave: crate::trace::run::stop_points::Leave,
    /// Where the instruction that runs began.
    pub(crate) began: usize,
    /// Tells the frame from others of the trace.
    pub(crate) serial: u64,
    /// What a suspended generator handles.
    pub(crate) exc_info: Option<ValueId>,
}

/// Where control goes after an instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Flow {
    Next,
    Jump(Label),
    Return(ValueId),
    Yield(ValueId),
    /// The frame became a generator.
    Generator,
}

impl Frame {
    pub(crate) fn push(&mut self, value: ValueId) {
        self.stack.push(StackEntry::Object(value));
    }

    pub(crate) fn pop(&mut self) -> Traced<ValueId> {
        match self.stack.pop() {
            Some(StackEntry::Object(value)) => Ok(value),
            other => internal(format!("expected an object on the stack, found {other:?}")),
        }
    }

    pub(crate) fn pop_entry(&mut self) -> Traced<Option<ValueId>> {
        match self.stack.pop() {
            Some(StackEntry::Object(value)) => Ok(Some(value)),
            Some(StackEntry::Null) => Ok(None),
            other => internal(format!("expected an object or NULL on the stack, found {other:?}")),
        }
    }

    /// Pushes what a call finds: the callable with its receiver, or with a NULL.
    pub(crate) fn push_callable(&mut self, callable: ValueId, receiver: Option<ValueId>) {
        let other = receiver.map_or(StackEntry::Null, StackEntry::Object);
        let callable = StackEntry::Object(callable);
        self.stack.extend(match (self.code.isa().null_comes_first(), receiver) {
            (true, None) => [other, callable],
            _ => [callable, other],
        });
    }

    /// Pops what a call finds.
    pub(crate) fn pop_callable(&mut self) -> Traced<(ValueId, Option<ValueId>)> {
        let upper = self.pop_entry()?;
        let lower = self.pop_entry()?;
        match (lower, upper) {
            (Some(callable), receiver) => Ok((callable, receiver)),
            (None, Some(callable)) => Ok((callable, None)),
            (None, None) => internal("call without a callable"),
        }
    }

    pub(crate) fn pop_many(&mut self, count: usize) -> Traced<Vec<ValueId>> {
        let mut values = Vec::with_capacity(count);
        for _ in 0..count {
            values.push(self.pop()?);
        }
        values.reverse();
        Ok(values)
    }

    /// The object `depth` entries below the top; 1 is the top itself.
    pub(crate) fn peek(&self, depth: usize) -> Traced<ValueId> {
        match self.stack.len().checked_sub(depth).and_then(|index| self.stack.get(index)) {
            Some(StackEntry::Object(value)) => Ok(*value),
            other => internal(format!("expected an object {depth} below the top, found {other:?}")),
        }
    }

    pub(crate) fn name(&self, index: u32) -> Traced<&str> {
        self.code.names.get(index as usize).map_or_else(|| internal("name index"), |name| Ok(name.as_str()))
    }

    pub(crate) fn local_name(&self, slot: u32) -> String {
        self.code.locals.get(slot as usize).map_or_else(String::new, |local| local.name.clone())
    }
}

impl Frame {
    /// The `yield` at which a generator waits; `None` before its start.
    pub(crate) fn suspended_at(&self) -> Option<&Instr> {
        let instr = self.pc.checked_sub(1).and_then(|at| self.code.instrs.get(at))?;
        (instr.op == Op::YIELD_VALUE).then_some(instr)
    }

    /// Whether an exception thrown in there meets a handler of the program, not only the one that the compiler puts around generators.
    pub(crate) fn ends_in_code(&self, instr: &Instr) -> bool {
        const STOPITERATION_ERROR: u32 = 3;
        let mut handler = instr.handler;
        while let Some(at) = handler {
            let target = self.code.index(at.target).and_then(|index| self.code.instrs.get(index));
            match target {
                Some(target) if target.op == Op::CLEANUP_THROW => handler = target.handler,
                Some(target) => return !(target.op == Op::CALL_INTRINSIC_1 && target.arg == STOPITERATION_ERROR),
                None => return true,
            }
        }
        false
    }
}

/// How a frame came to rest.
#[derive(Debug)]
pub(crate) enum Rest {
    Returned(ValueId),
    Yielded(ValueId),
    Generator,
}

impl<'py> Tracer<'py> {
    pub(crate) fn decode(&self, code: &Bound<'py, PyAny>) -> Traced<Arc<Code>> {
        self.state.kept.decode(code).or_else(|error| unsupported("code object that does not decode", error.to_string()))
    }

    /// Runs until the frame returns, yields, raises or stops.
    pub(crate) fn run(&mut self, frame: &mut Frame) -> Traced<Rest> {
        let line = u32::try_from(frame.code.firstlineno).unwrap_or(0);
        let function = frame.function.clone_ref(self.py);
        self.state.places.push(Place {
            file: Arc::clone(&frame.code.file),
            line,
            op: Op::RESUME,
            function,
            serial: frame.serial,
        });
        if self.state.track {
            self.state.held.push(crate::trace::lifetime::weak_references::Held::default());
        }
        let rest = self.run_here(frame);
        self.state.held.pop();
        self.rest_at(frame);
        match rest {
            Err(Signal::Break(_)) if !frame.outermost => {
                self.state.broken_inside.push(frame.code.original.clone_ref(self.py));
            }
            Err(Signal::Here(_) | Signal::Stopped) if !frame.outermost => self.left_inside(frame),
            _ => {}
        }
        self.state.places.pop();
        rest
    }

    fn run_here(&mut self, frame: &mut Frame) -> Traced<Rest> {
        let code = Arc::clone(&frame.code);
        loop {
            let Some(instr) = code.instrs.get(frame.pc) else {
                return internal("control ran off the end of the code");
            };
            self.before(frame, instr)?;
            let flow = self.step(frame, instr);
            self.refuse_stand_in()?;
            if frame.outermost
                && let Ok(next) = flow
            {
                self.check_mortals(frame, next).map_err(|signal| self.refused_end(frame, signal))?;
            }
            match flow {
                Ok(Flow::Next) => frame.pc += 1,
                Ok(Flow::Jump(label)) => frame.pc = frame.code.index(label).map_or_else(|| internal("label"), Ok)?,
                Ok(Flow::Return(value)) => return Ok(Rest::Returned(value)),
                Ok(Flow::Yield(value)) => {
                    frame.pc += 1;
                    return Ok(Rest::Yielded(value));
                }
                Ok(Flow::Generator) => {
                    frame.pc += 1;
                    return Ok(Rest::Generator);
                }
                Err(Signal::Raised(value)) => {
                    // A call in several instructions raises at its last.
                    let at = code.instrs.get(frame.pc).unwrap_or(instr);
                    if frame.leave.exposed && at.handler.is_none() && self.state.can_go_back(frame) {
                        let reason = Box::new(self.raises(value));
                        if self.state.go_back(frame) {
                            return Err(Signal::Here(reason));
                        }
                    }
                    self.handle(frame, at, value)?;
                    if frame.outermost {
                        self.check_mortals(frame, Flow::Next).map_err(|signal| self.refused_end(frame, signal))?;
                    }
                }
                Err(Signal::Break(reason)) if self.state.go_back(frame) => {
                    return Err(Signal::Here(reason));
                }
                Err(other) => return Err(other),
            }
        }
    }

    /// Whatever came of it, a body that is another release's was no answer.
    fn refuse_stand_in(&mut self) -> Traced<()> {
        let Some(function) = self.state.stood_in.take() else { return Ok(()) };
        let why = crate::semantics::differs(function).unwrap_or_default();
        unsupported("C function that another release's does not stand in for", format!("{}: {why}", function.name()))
    }

    fn before(&mut self, frame: &mut Frame, instr: &Instr) -> Traced<()> {
        #[cfg(debug_assertions)]
        if PyErr::occurred(self.py) {
            PyErr::take(self.py);
            return internal(format!("an exception was left set before {:?}", instr.op));
        }
        frame.began = frame.pc;
        if self.counts(frame) {
            if self.state.stop_at.is_some_and(|step| step <= self.state.outer_step) && frame.pc >= frame.leave.first {
                self.state.stopped_late = self.state.stop_at != Some(self.state.outer_step);
                return Err(Signal::Stopped);
            }
            self.state.begin_instruction(frame);
            if frame.outermost {
                self.state.outermost_step = self.state.outer_step;
            }
            self.state.outer_step += 1;
        }
        if self.state.track {
            self.hold(frame, instr);
        }
        self.state.steps += 1;
        if self.state.steps > self.state.max_steps {
            return fallback(format!("more than {} instructions in one trace", self.state.max_steps));
        }
        if let Some(place) = self.state.places.last_mut() {
            if instr.position.line >= 0 {
                place.line = instr.position.line.unsigned_abs();
            }
            place.op = instr.op;
        }
        Ok(())
    }

    /// Goes to the handler of an instruction that raised. CPython: `exception_unwind` in `Python/bytecodes.c`.
    pub(crate) fn handle(&mut self, frame: &mut Frame, instr: &Instr, value: ValueId) -> Traced<()> {
        self.pass(frame, instr, value);
        let Some(handler) = instr.handler else { return Err(Signal::Raised(value)) };
        let unit = handler.lasti.then(|| self.stands_at(frame, instr).max(0) / 2);
        frame.stack.truncate(handler.depth as usize);
        if let Some(unit) = unit {
            let unit = pyo3::types::PyInt::new(self.py, unit).into_any();
            let unit = self.constant(unit);
            frame.push(unit);
        }
        frame.push(value);
        frame.pc = frame.code.index(handler.target).map_or_else(|| internal("handler label"), Ok)?;
        Ok(())
    }
}
