//! Resuming a frame with a value or an exception, closing it, throwing into what it delegates to.
use crate::bytecode::Op;
use crate::trace::release;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::frame::{Frame, Rest};
use crate::trace::state::generator::With;
use crate::trace::state::generator::{Kind, Progress, Sent};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Signal, Traced, internal};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;

impl<'py> Tracer<'py> {
    /// `gen_send_ex2`.
    pub(crate) fn gen_send(&mut self, id: ValueId, with: With) -> Traced<Sent> {
        let none = self.none();
        let not_none = match with {
            With::Value(value) => !self.is_none(value)?,
            _ => false,
        };
        let generator = self.generator(id)?;
        let (kind, noun) = (generator.kind, generator.kind.noun());
        match (generator.progress, with) {
            (Progress::Created, _) if not_none => {
                return self.raise("TypeError", format!("can't send non-None value to a just-started {noun}"));
            }
            (Progress::Executing, _) => return self.raise("ValueError", format!("{noun} already executing")),
            (Progress::Completed, With::Value(_) | With::Nothing | With::Exception(_))
                if generator.kind == Kind::Coroutine =>
            {
                return self.raise("RuntimeError", "cannot reuse already awaited coroutine");
            }
            (Progress::Completed, With::Value(_) | With::Nothing) => return Ok(Sent::Returned(none)),
            (Progress::Completed, With::Exception(exception) | With::Closing(exception)) => {
                return Err(Signal::Raised(exception));
            }
            (Progress::Created | Progress::Suspended | Progress::Delegating, _) => {}
        }
        generator.progress = Progress::Executing;
        let Some(mut frame) = generator.frame.take() else { return internal("suspended generator without a frame") };
        let rest = self.resume_frame(&mut frame, with);
        self.generator(id)?.progress = Progress::Completed;
        match ended_in_c(self, kind, rest)? {
            Rest::Yielded(value) => {
                let generator = self.generator(id)?;
                generator.progress = if delegates(&frame) { Progress::Delegating } else { Progress::Suspended };
                generator.frame = Some(frame);
                Ok(Sent::Yielded(value))
            }
            Rest::Returned(value) => Ok(Sent::Returned(value)),
            Rest::Generator => internal("generator resumed into its own start"),
        }
    }

    /// Runs the frame on its own stack of handled exceptions.
    fn resume_frame(&mut self, frame: &mut Frame, with: With) -> Traced<Rest> {
        self.enter_call()?;
        let below = std::mem::replace(&mut *self.state.exc_info, frame.exc_info);
        self.state.exc_below.push(below);
        let rest = self.run_resumed(frame, with);
        frame.exc_info = *self.state.exc_info;
        *self.state.exc_info = self.state.exc_below.pop().flatten();
        self.state.depth -= 1;
        rest
    }

    fn run_resumed(&mut self, frame: &mut Frame, with: With) -> Traced<Rest> {
        // Handlers count on it: the instruction at which the frame rests has left something on the stack.
        let pushed = match with {
            With::Value(value) => value,
            With::Nothing | With::Exception(_) | With::Closing(_) => self.none(),
        };
        frame.push(pushed);
        match with {
            With::Value(_) | With::Nothing => {}
            With::Exception(exception) | With::Closing(exception) => {
                self.chain(exception, *self.state.exc_info);
                let at = frame.pc.saturating_sub(1);
                let Some(instr) = frame.code.instrs.get(at).copied() else { return Err(Signal::Raised(exception)) };
                self.handle(frame, &instr, exception)?;
            }
        }
        self.run(frame)
    }

    /// `_PyGen_yf`: what it delegates to.
    pub(crate) fn gen_yf(&mut self, id: ValueId) -> Traced<Option<ValueId>> {
        let generator = self.generator(id)?;
        match (generator.progress, &generator.frame) {
            (Progress::Delegating, Some(frame)) => frame.peek(1).map(Some),
            _ => Ok(None),
        }
    }

    /// `gen_close`: what the frame returned on the way.
    pub(crate) fn gen_close(&mut self, id: ValueId) -> Traced<ValueId> {
        let none = self.none();
        let yf = self.gen_yf(id)?;
        let generator = self.generator(id)?;
        match generator.progress {
            Progress::Created => {
                generator.progress = Progress::Completed;
                generator.frame = None;
                return Ok(none);
            }
            Progress::Completed => return Ok(none),
            Progress::Suspended | Progress::Delegating | Progress::Executing => {}
        }
        let exit = match yf {
            Some(yf) => self.while_executing(id, |tracer| tracer.close_iter(yf)),
            None => Ok(()),
        };
        let exit = match exit {
            Ok(()) => self.new_exception("GeneratorExit")?,
            Err(Signal::Raised(raised)) => raised,
            Err(other) => return Err(other),
        };
        let noun = self.generator(id)?.kind.noun();
        match self.gen_send(id, With::Closing(exit)) {
            Ok(Sent::Yielded(_)) => self.raise("RuntimeError", format!("{noun} ignored GeneratorExit")),
            Ok(Sent::Returned(value)) => Ok(if release::CLOSE_GIVES_VALUE { value } else { none }),
            Err(signal) if self.raised_is(&signal, "GeneratorExit")? => Ok(none),
            Err(signal) => {
                let value = self.stopped_with(signal)?;
                Ok(if release::CLOSE_GIVES_VALUE { value } else { none })
            }
        }
    }

    /// `gen_close_iter`.
    fn close_iter(&mut self, yf: ValueId) -> Traced<()> {
        if matches!(self.kind_of(yf), Some(Kind::Generator | Kind::Coroutine)) {
            return self.gen_close(yf).map(drop);
        }
        match self.optional_attr(yf, "close")? {
            Some(close) => self.call(close, Arguments::default()).map(drop),
            None => Ok(()),
        }
    }

    fn while_executing<T>(&mut self, id: ValueId, run: impl FnOnce(&mut Self) -> Traced<T>) -> Traced<T> {
        let before = std::mem::replace(&mut self.generator(id)?.progress, Progress::Executing);
        let result = run(self);
        self.generator(id)?.progress = before;
        result
    }

    /// `_gen_throw` of an exception or a class of exceptions.
    pub(crate) fn gen_throw(&mut self, id: ValueId, close_on_genexit: bool, thrown: ValueId) -> Traced<Sent> {
        let Some(yf) = self.gen_yf(id)? else { return self.throw_here(id, thrown) };
        let answer = if close_on_genexit && self.given_matches(thrown, "GeneratorExit")? {
            match self.while_executing(id, |tracer| tracer.close_iter(yf)) {
                Ok(()) => return self.throw_here(id, thrown),
                Err(signal) => Err(signal),
            }
        } else if matches!(self.kind_of(yf), Some(Kind::Generator | Kind::Coroutine)) {
            self.while_executing(id, |tracer| tracer.gen_throw(yf, close_on_genexit, thrown))
        } else {
            let Some(throw) = self.optional_attr(yf, "throw")? else { return self.throw_here(id, thrown) };
            let args = Arguments::positional(vec![thrown]);
            self.while_executing(id, |tracer| tracer.call(throw, args)).map(Sent::Yielded)
        };
        match answer {
            Ok(Sent::Yielded(value)) => Ok(Sent::Yielded(value)),
            Ok(Sent::Returned(value)) => {
                let stop = self.new_stop_iteration(value)?;
                self.thrown_back(id, stop)
            }
            Err(Signal::Raised(raised)) => self.thrown_back(id, raised),
            Err(other) => Err(other),
        }
    }

    /// What was thrown into has ended.
    fn thrown_back(&mut self, id: ValueId, raised: ValueId) -> Traced<Sent> {
        if release::GENERATORS_END_IN_C {
            self.end_delegation(id, raised)
        } else {
            self.gen_send(id, With::Exception(raised))
        }
    }

    /// What `_gen_throw` does where the frame has no `CLEANUP_THROW`: it goes on after the loop of `SEND`.
    fn end_delegation(&mut self, id: ValueId, raised: ValueId) -> Traced<Sent> {
        let Some(frame) = &mut self.generator(id)?.frame else {
            return internal("delegating generator without a frame");
        };
        frame.pop()?;
        let target = frame.pc.checked_sub(2).and_then(|at| frame.code.instrs.get(at)).and_then(|send| send.target);
        let Some(after) = target.and_then(|target| frame.code.index(target)) else {
            return internal("no SEND before a yield");
        };
        frame.pc = after;
        match self.stopped_with(Signal::Raised(raised)) {
            Ok(value) => self.gen_send(id, With::Value(value)),
            Err(Signal::Raised(raised)) => self.gen_send(id, With::Exception(raised)),
            Err(other) => Err(other),
        }
    }

    fn throw_here(&mut self, id: ValueId, thrown: ValueId) -> Traced<Sent> {
        let exception = self.thrown_exception(thrown)?;
        self.gen_send(id, With::Exception(exception))
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
        let class = self.import("builtins", "StopIteration")?;
        let exception = class.call1((self.native(value)?,)).or_else(|error| self.raise_error(error))?;
        Ok(self.own(exception))
    }

    /// `_PyGen_FetchStopIterationValue`: the value of a `StopIteration`, or what was raised instead.
    pub(crate) fn stopped_with(&mut self, signal: Signal) -> Traced<ValueId> {
        match signal {
            Signal::Raised(raised) if self.raised_is(&Signal::Raised(raised), "StopIteration")? => {
                self.get_attr(raised, "value")
            }
            other => Err(other),
        }
    }
}

/// What ends an iteration does not leave a generator by itself.
fn ended_in_c(tracer: &mut Tracer<'_>, kind: Kind, rest: Traced<Rest>) -> Traced<Rest> {
    match rest {
        Err(Signal::Raised(raised)) if release::GENERATORS_END_IN_C => {
            Err(Signal::Raised(tracer.stop_iteration_error(Some(kind), raised)?))
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
