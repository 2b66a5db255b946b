//! Resumes a frame with a value or an exception, closes it, and throws into the iterator that it delegates to.
use crate::bytecode::Op;
use crate::trace::release;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::frame::{Frame, FrameExit};
use crate::trace::state::generator::{GeneratorKind, GeneratorState, ResumeWith, SendResult};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, internal, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;

impl<'py> Tracer<'py> {
    /// `gen_send_ex2`.
    pub(crate) fn gen_send(&mut self, id: ValueId, with: ResumeWith) -> Traced<SendResult> {
        let none = self.none();
        let not_none = match with {
            ResumeWith::Value(value) => !self.is_none(value)?,
            _ => false,
        };
        let generator = self.generator(id)?;
        let (kind, noun) = (generator.kind, generator.kind.noun());
        match (generator.progress, with) {
            (GeneratorState::Created, _) if not_none => {
                return self.raise("TypeError", format!("can't send non-None value to a just-started {noun}"));
            }
            (GeneratorState::Executing, _) => return self.raise("ValueError", format!("{noun} already executing")),
            (GeneratorState::Completed, ResumeWith::Value(_) | ResumeWith::Nothing | ResumeWith::Exception(_))
                if generator.kind == GeneratorKind::Coroutine =>
            {
                return self.raise("RuntimeError", "cannot reuse already awaited coroutine");
            }
            (GeneratorState::Completed, ResumeWith::Value(_) | ResumeWith::Nothing) => {
                return Ok(SendResult::Returned(none));
            }
            (GeneratorState::Completed, ResumeWith::Exception(exception) | ResumeWith::Closing(exception)) => {
                return Err(Unwind::Raised(exception));
            }
            (GeneratorState::Created | GeneratorState::Suspended | GeneratorState::Delegating, _) => {}
        }
        generator.progress = GeneratorState::Executing;
        let Some(mut frame) = generator.frame.take() else { return internal("suspended generator without a frame") };
        let rest = self.resume_frame(&mut frame, with);
        self.generator(id)?.progress = GeneratorState::Completed;
        match ended_in_c(self, kind, rest)? {
            FrameExit::Yielded(value) => {
                let generator = self.generator(id)?;
                generator.progress =
                    if delegates(&frame) { GeneratorState::Delegating } else { GeneratorState::Suspended };
                generator.frame = Some(frame);
                Ok(SendResult::Yielded(value))
            }
            FrameExit::Returned(value) => Ok(SendResult::Returned(value)),
            FrameExit::Generator => internal("generator resumed into its own start"),
        }
    }

    /// Runs the frame on its own stack of handled exceptions.
    fn resume_frame(&mut self, frame: &mut Frame, with: ResumeWith) -> Traced<FrameExit> {
        self.enter_call()?;
        let below = std::mem::replace(&mut *self.state.exc_info, frame.exc_info);
        self.state.exc_below.push(below);
        let rest = self.run_resumed(frame, with);
        frame.exc_info = *self.state.exc_info;
        *self.state.exc_info = self.state.exc_below.pop().flatten();
        self.state.depth -= 1;
        rest
    }

    fn run_resumed(&mut self, frame: &mut Frame, with: ResumeWith) -> Traced<FrameExit> {
        // Handlers count on it: the instruction at which the frame rests has left something on the stack.
        let pushed = match with {
            ResumeWith::Value(value) => value,
            ResumeWith::Nothing | ResumeWith::Exception(_) | ResumeWith::Closing(_) => self.none(),
        };
        frame.push(pushed);
        match with {
            ResumeWith::Value(_) | ResumeWith::Nothing => {}
            ResumeWith::Exception(exception) | ResumeWith::Closing(exception) => {
                self.chain(exception, *self.state.exc_info);
                let at = frame.pc.saturating_sub(1);
                let Some(instr) = frame.code.instrs.get(at).copied() else { return Err(Unwind::Raised(exception)) };
                self.handle(frame, &instr, exception)?;
            }
        }
        self.run(frame)
    }

    /// `_PyGen_yf`: what it delegates to.
    pub(crate) fn gen_yf(&mut self, id: ValueId) -> Traced<Option<ValueId>> {
        let generator = self.generator(id)?;
        match (generator.progress, &generator.frame) {
            (GeneratorState::Delegating, Some(frame)) => frame.iterator().map(Some),
            _ => Ok(None),
        }
    }

    /// Breaks where a program could see the iterator over a sequence to which a generator delegates: from 3.15 on it delegates to the
    /// sequence itself.
    pub(crate) fn refuse_sequence_iterator(&mut self, delegate: ValueId) -> Traced<()> {
        const ITERATORS: [&str; 5] =
            ["list_iterator", "tuple_iterator", "str_iterator", "str_ascii_iterator", "bytes_iterator"];
        let class = self.class_of(delegate)?;
        let name = crate::ffi::types::c_name(&class);
        if cfg!(Py_3_15) && ITERATORS.contains(&&*name) {
            return unsupported("sequence to which a generator delegates", name);
        }
        Ok(())
    }

    /// `gen_close`: what the frame returned on the way.
    pub(crate) fn gen_close(&mut self, id: ValueId) -> Traced<ValueId> {
        let none = self.none();
        let yf = self.gen_yf(id)?;
        let generator = self.generator(id)?;
        match generator.progress {
            GeneratorState::Created => {
                generator.progress = GeneratorState::Completed;
                generator.frame = None;
                return Ok(none);
            }
            GeneratorState::Completed => return Ok(none),
            GeneratorState::Suspended | GeneratorState::Delegating | GeneratorState::Executing => {}
        }
        let exit = match yf {
            Some(yf) => self.while_executing(id, |tracer| tracer.close_iter(yf)),
            None => Ok(()),
        };
        let exit = match exit {
            Ok(()) => self.new_exception("GeneratorExit")?,
            Err(Unwind::Raised(raised)) => raised,
            Err(other) => return Err(other),
        };
        let noun = self.generator(id)?.kind.noun();
        match self.gen_send(id, ResumeWith::Closing(exit)) {
            Ok(SendResult::Yielded(_)) => self.raise("RuntimeError", format!("{noun} ignored GeneratorExit")),
            Ok(SendResult::Returned(value)) => Ok(if release::CLOSE_GIVES_VALUE { value } else { none }),
            Err(signal) if self.raised_is(&signal, "GeneratorExit")? => Ok(none),
            Err(signal) => {
                let value = self.stopped_with(signal)?;
                Ok(if release::CLOSE_GIVES_VALUE { value } else { none })
            }
        }
    }

    /// `gen_close_iter`.
    fn close_iter(&mut self, yf: ValueId) -> Traced<()> {
        if matches!(self.kind_of(yf), Some(GeneratorKind::Generator | GeneratorKind::Coroutine)) {
            return self.gen_close(yf).map(drop);
        }
        match self.optional_attr(yf, "close")? {
            Some(close) => self.call(close, Arguments::default()).map(drop),
            None => Ok(()),
        }
    }

    fn while_executing<T>(&mut self, id: ValueId, run: impl FnOnce(&mut Self) -> Traced<T>) -> Traced<T> {
        let before = std::mem::replace(&mut self.generator(id)?.progress, GeneratorState::Executing);
        let result = run(self);
        self.generator(id)?.progress = before;
        result
    }

    /// `_gen_throw` of an exception or a class of exceptions.
    pub(crate) fn gen_throw(&mut self, id: ValueId, close_on_genexit: bool, thrown: ValueId) -> Traced<SendResult> {
        let Some(yf) = self.gen_yf(id)? else { return self.throw_here(id, thrown) };
        let answer = if close_on_genexit && self.given_matches(thrown, "GeneratorExit")? {
            match self.while_executing(id, |tracer| tracer.close_iter(yf)) {
                Ok(()) => return self.throw_here(id, thrown),
                Err(signal) => Err(signal),
            }
        } else if matches!(self.kind_of(yf), Some(GeneratorKind::Generator | GeneratorKind::Coroutine)) {
            self.while_executing(id, |tracer| tracer.gen_throw(yf, close_on_genexit, thrown))
        } else {
            let Some(throw) = self.optional_attr(yf, "throw")? else { return self.throw_here(id, thrown) };
            let args = Arguments::positional(vec![thrown]);
            self.while_executing(id, |tracer| tracer.call(throw, args)).map(SendResult::Yielded)
        };
        match answer {
            Ok(SendResult::Yielded(value)) => Ok(SendResult::Yielded(value)),
            Ok(SendResult::Returned(value)) => {
                let stop = self.new_stop_iteration(value)?;
                self.thrown_back(id, stop)
            }
            Err(Unwind::Raised(raised)) => self.thrown_back(id, raised),
            Err(other) => Err(other),
        }
    }

    /// What was thrown into has ended.
    fn thrown_back(&mut self, id: ValueId, raised: ValueId) -> Traced<SendResult> {
        if release::GENERATORS_END_IN_C {
            self.end_delegation(id, raised)
        } else {
            self.gen_send(id, ResumeWith::Exception(raised))
        }
    }

    /// What `_gen_throw` does where the frame has no `CLEANUP_THROW`: it goes on after the loop of `SEND`.
    fn end_delegation(&mut self, id: ValueId, raised: ValueId) -> Traced<SendResult> {
        let Some(frame) = &mut self.generator(id)?.frame else {
            return internal("delegating generator without a frame");
        };
        frame.pop()?;
        let target = frame.pc.checked_sub(2).and_then(|at| frame.code.instrs.get(at)).and_then(|send| send.target);
        let Some(after) = target.and_then(|target| frame.code.index(target)) else {
            return internal("no SEND before a yield");
        };
        frame.pc = after;
        match self.stopped_with(Unwind::Raised(raised)) {
            Ok(value) => self.gen_send(id, ResumeWith::Value(value)),
            Err(Unwind::Raised(raised)) => self.gen_send(id, ResumeWith::Exception(raised)),
            Err(other) => Err(other),
        }
    }

    fn throw_here(&mut self, id: ValueId, thrown: ValueId) -> Traced<SendResult> {
        let exception = self.thrown_exception(thrown)?;
        self.gen_send(id, ResumeWith::Exception(exception))
    }

    /// The exception that `throw` got, made if it got a class.
    fn thrown_exception(&mut self, thrown: ValueId) -> Traced<ValueId> {
        if self.is_exception_class(thrown) || self.is_exception_instance(thrown)? {
            return self.exception_from(thrown);
        }
        let class = self.class_of(thrown)?;
        let name = crate::ffi::types::name(&class);
        let message = format!("exceptions must be classes or instances deriving from BaseException, not {name}");
        self.raise("TypeError", message)
    }

    /// `PyErr_GivenExceptionMatches` for a class of `builtins`.
    fn given_matches(&mut self, given: ValueId, class: &str) -> Traced<bool> {
        let wanted = self.import("builtins", class)?;
        if let Some(known) = self.known(given).and_then(|known| known.cast_into::<pyo3::types::PyType>().ok()) {
            return Ok(known.is_subclass(&wanted).unwrap_or(false));
        }
        Ok(self.class_of(given)?.is_subclass(&wanted).unwrap_or(false))
    }

    /// A new exception of a class of `builtins`, without arguments.
    pub(crate) fn new_exception(&mut self, class: &str) -> Traced<ValueId> {
        let class = self.import("builtins", class)?;
        let exception = class.call0().or_else(|error| self.raise_error(error))?;
        Ok(self.own(exception))
    }

    /// `_PyGen_SetStopIterationValue`.
    pub(crate) fn new_stop_iteration(&mut self, value: ValueId) -> Traced<ValueId> {
        if self.is_none(value)? {
            return self.new_exception("StopIteration");
        }
        self.stop_iteration_with(value)
    }

    /// `StopIteration(value)`, also for `None`.
    pub(super) fn stop_iteration_with(&mut self, value: ValueId) -> Traced<ValueId> {
        let class = self.import("builtins", "StopIteration")?;
        let exception = class.call1((self.native(value)?,)).or_else(|error| self.raise_error(error))?;
        Ok(self.own(exception))
    }

    /// `_PyGen_FetchStopIterationValue`: the value of a `StopIteration`, or what was raised instead.
    pub(crate) fn stopped_with(&mut self, signal: Unwind) -> Traced<ValueId> {
        match signal {
            Unwind::Raised(raised) if self.raised_is(&Unwind::Raised(raised), "StopIteration")? => {
                self.get_attr(raised, "value")
            }
            other => Err(other),
        }
    }
}

/// What ends an iteration does not leave a generator by itself.
fn ended_in_c(tracer: &mut Tracer<'_>, kind: GeneratorKind, rest: Traced<FrameExit>) -> Traced<FrameExit> {
    match rest {
        Err(Unwind::Raised(raised)) if release::GENERATORS_END_IN_C => {
            Err(Unwind::Raised(tracer.stop_iteration_error(Some(kind), raised)?))
        }
        rest => rest,
    }
}

/// Whether the frame rests at a `yield from` or an `await`: its `RESUME` says so.
fn delegates(frame: &Frame) -> bool {
    const RESUME_OPARG_LOCATION_MASK: u32 = 3;
    const RESUME_AFTER_YIELD_FROM: u32 = 2;
    let next = frame.code.instrs.get(frame.pc);
    next.is_some_and(|next| next.op == Op::RESUME && next.arg & RESUME_OPARG_LOCATION_MASK >= RESUME_AFTER_YIELD_FROM)
}
