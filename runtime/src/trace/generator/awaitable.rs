//! The objects that `asend`, `athrow` and `aclose` of an asynchronous generator give.
use crate::trace::state::generator::{AwaitableState, GeneratorObject, GeneratorState, ResumeWith, SendResult};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, internal};
use crate::trace::state::value::ValueId;

const IGNORED_EXIT: &str = "async generator ignored GeneratorExit";
const REUSED_SEND: &str = "cannot reuse already awaited __anext__()/asend()";
const REUSED_THROW: &str = "cannot reuse already awaited aclose()/athrow()";

impl<'py> Tracer<'py> {
    fn stage(&self, id: ValueId) -> Traced<AwaitableState> {
        match self.state.generators.get(&id) {
            Some(GeneratorObject::Send { stage, .. } | GeneratorObject::Throw { stage, .. }) => Ok(*stage),
            _ => internal("awaitable expected"),
        }
    }

    fn set_stage(&mut self, id: ValueId, new: AwaitableState) {
        if let Some(GeneratorObject::Send { stage, .. } | GeneratorObject::Throw { stage, .. }) =
            self.state.generators.get_mut(&id)
        {
            *stage = new;
        }
    }

    /// A step of what `asend` gave. CPython: `async_gen_asend_send`, and `async_gen_asend_throw` for an exception.
    pub(crate) fn asend_step(
        &mut self,
        id: ValueId,
        generator: ValueId,
        first: ValueId,
        with: ResumeWith,
    ) -> Traced<SendResult> {
        let mut with = with;
        match self.stage(id)? {
            AwaitableState::Closed => return self.raise("RuntimeError", REUSED_SEND),
            AwaitableState::Init => {
                if self.generator(generator)?.running {
                    self.set_stage(id, AwaitableState::Closed);
                    return self.raise("RuntimeError", "anext(): asynchronous generator is already running");
                }
                self.set_stage(id, AwaitableState::Iter);
                with = match with {
                    ResumeWith::Nothing => ResumeWith::Value(first),
                    ResumeWith::Value(value) if self.is_none(value)? => ResumeWith::Value(first),
                    other => other,
                };
            }
            AwaitableState::Iter => {}
        }
        self.generator(generator)?.running = true;
        let result = self.async_step(generator, true, with);
        let result = self.unwrap_step(generator, result);
        if !matches!(result, Ok(SendResult::Yielded(_))) {
            self.generator(generator)?.running = false;
            self.set_stage(id, AwaitableState::Closed);
        }
        result
    }

    /// `gen_send` or `_gen_throw` of an asynchronous generator, whose return is a `StopAsyncIteration`.
    fn async_step(&mut self, generator: ValueId, close_on_genexit: bool, with: ResumeWith) -> Traced<ValueId> {
        let sent = match with {
            ResumeWith::Exception(thrown) | ResumeWith::Closing(thrown) => {
                self.gen_throw(generator, close_on_genexit, thrown)?
            }
            with => self.gen_send(generator, with)?,
        };
        match sent {
            SendResult::Yielded(value) => Ok(value),
            SendResult::Returned(_) => self.raise_plain("StopAsyncIteration"),
        }
    }

    /// `async_gen_unwrap_value`: what the generator yields itself is the result of the `await`; the rest goes to the event loop.
    fn unwrap_step(&mut self, generator: ValueId, result: Traced<ValueId>) -> Traced<SendResult> {
        match result {
            Ok(value) => match self.state.generators.get(&value) {
                Some(GeneratorObject::Wrapped(inner)) => {
                    let inner = *inner;
                    self.generator(generator)?.running = false;
                    Ok(SendResult::Returned(inner))
                }
                _ => Ok(SendResult::Yielded(value)),
            },
            Err(signal) => {
                if self.ends_async(&signal)? {
                    self.generator(generator)?.closed = true;
                }
                self.generator(generator)?.running = false;
                Err(signal)
            }
        }
    }

    pub(crate) fn ends_async(&mut self, signal: &Unwind) -> Traced<bool> {
        Ok(self.raised_is(signal, "StopAsyncIteration")? || self.raised_is(signal, "GeneratorExit")?)
    }

    /// A step of what `athrow` or `aclose` gave. CPython: `async_gen_athrow_send`.
    pub(crate) fn athrow_send(
        &mut self,
        id: ValueId,
        generator: ValueId,
        thrown: Option<ValueId>,
        sent: ValueId,
    ) -> Traced<SendResult> {
        if self.stage(id)? == AwaitableState::Closed {
            return self.raise("RuntimeError", REUSED_THROW);
        }
        if self.generator(generator)?.progress == GeneratorState::Completed {
            self.set_stage(id, AwaitableState::Closed);
            return Ok(SendResult::Returned(self.none()));
        }
        let starts = self.stage(id)? == AwaitableState::Init;
        let with = if starts {
            self.start_athrow(id, generator, thrown)?;
            if self.generator(generator)?.closed {
                self.set_stage(id, AwaitableState::Closed);
                return self.raise_plain("StopAsyncIteration");
            }
            if !self.is_none(sent)? {
                return self.raise("RuntimeError", "can't send non-None value to a just-started coroutine");
            }
            self.set_stage(id, AwaitableState::Iter);
            let state = self.generator(generator)?;
            state.running = true;
            state.closed |= thrown.is_none();
            ResumeWith::Exception(match thrown {
                Some(thrown) => thrown,
                None => self.generator_exit()?,
            })
        } else {
            ResumeWith::Value(sent)
        };
        let result = self.async_step(generator, false, with);
        match thrown {
            Some(_) => {
                let result = self.unwrap_step(generator, result);
                if starts && result.is_err() {
                    self.end_athrow(id, generator)?;
                }
                result
            }
            None => self.aclose_result(id, generator, result),
        }
    }

    /// The class, as closing throws it.
    pub(crate) fn generator_exit(&mut self) -> Traced<ValueId> {
        let class = self.import("builtins", "GeneratorExit")?;
        Ok(self.constant(class))
    }

    fn start_athrow(&mut self, id: ValueId, generator: ValueId, thrown: Option<ValueId>) -> Traced<()> {
        if !self.generator(generator)?.running {
            return Ok(());
        }
        self.set_stage(id, AwaitableState::Closed);
        let name = if thrown.is_some() { "athrow" } else { "aclose" };
        self.raise("RuntimeError", format!("{name}(): asynchronous generator is already running"))
    }

    fn end_athrow(&mut self, id: ValueId, generator: ValueId) -> Traced<()> {
        self.generator(generator)?.running = false;
        self.set_stage(id, AwaitableState::Closed);
        Ok(())
    }

    /// What `aclose` makes of the generator's answer: its end is the end of the `await`.
    fn aclose_result(&mut self, id: ValueId, generator: ValueId, result: Traced<ValueId>) -> Traced<SendResult> {
        match result {
            Ok(value) if matches!(self.state.generators.get(&value), Some(GeneratorObject::Wrapped(_))) => {
                self.end_athrow(id, generator)?;
                self.raise("RuntimeError", IGNORED_EXIT)
            }
            Ok(value) => Ok(SendResult::Yielded(value)),
            Err(signal) => {
                self.end_athrow(id, generator)?;
                if self.ends_async(&signal)? { Ok(SendResult::Returned(self.none())) } else { Err(signal) }
            }
        }
    }

    /// CPython: `async_gen_athrow_throw`.
    pub(crate) fn athrow_throw(
        &mut self,
        id: ValueId,
        generator: ValueId,
        own: Option<ValueId>,
        thrown: ValueId,
    ) -> Traced<SendResult> {
        match self.stage(id)? {
            AwaitableState::Closed => return self.raise("RuntimeError", REUSED_THROW),
            AwaitableState::Init => {
                self.start_athrow(id, generator, own)?;
                self.set_stage(id, AwaitableState::Iter);
                self.generator(generator)?.running = true;
            }
            AwaitableState::Iter => {}
        }
        let result = self.async_step(generator, true, ResumeWith::Exception(thrown));
        match own {
            Some(_) => {
                let result = self.unwrap_step(generator, result);
                if !matches!(result, Ok(SendResult::Yielded(_))) {
                    self.end_athrow(id, generator)?;
                }
                result
            }
            None => self.aclose_result(id, generator, result),
        }
    }
}
