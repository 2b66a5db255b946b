//! What `asend`, `athrow` and `aclose` of an asynchronous generator give.
use crate::trace::state::generator::With;
use crate::trace::state::generator::{Made, Progress, Sent, Stage};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Signal, Traced, internal};
use crate::trace::state::value::ValueId;

const IGNORED_EXIT: &str = "async generator ignored GeneratorExit";
const REUSED_SEND: &str = "cannot reuse already awaited __anext__()/asend()";
const REUSED_THROW: &str = "cannot reuse already awaited aclose()/athrow()";

impl<'py> Tracer<'py> {
    fn stage(&self, id: ValueId) -> Traced<Stage> {
        match self.state.generators.get(&id) {
            Some(Made::Send { stage, .. } | Made::Throw { stage, .. }) => Ok(*stage),
            _ => internal("awaitable expected"),
        }
    }

    fn set_stage(&mut self, id: ValueId, new: Stage) {
        if let Some(Made::Send { stage, .. } | Made::Throw { stage, .. }) = self.state.generators.get_mut(&id) {
            *stage = new;
        }
    }

    /// A step of what `asend` gave. CPython: `async_gen_asend_send`, and `async_gen_asend_throw` for an exception.
    pub(crate) fn asend_step(&mut self, id: ValueId, generator: ValueId, first: ValueId, with: With) -> Traced<Sent> {
        let mut with = with;
        match self.stage(id)? {
            Stage::Closed => return self.raise("RuntimeError", REUSED_SEND),
            Stage::Init => {
                if self.generator(generator)?.running {
                    self.set_stage(id, Stage::Closed);
                    return self.raise("RuntimeError", "anext(): asynchronous generator is already running");
                }
                self.set_stage(id, Stage::Iter);
                with = match with {
                    With::Nothing => With::Value(first),
                    With::Value(value) if self.is_none(value)? => With::Value(first),
                    other => other,
                };
            }
            Stage::Iter => {}
        }
        self.generator(generator)?.running = true;
        let result = self.async_step(generator, true, with);
        let result = self.unwrap_step(generator, result);
        if !matches!(result, Ok(Sent::Yielded(_))) {
            self.generator(generator)?.running = false;
            self.set_stage(id, Stage::Closed);
        }
        result
    }

    /// `gen_send` or `_gen_throw` of an asynchronous generator, whose return is a `StopAsyncIteration`.
    fn async_step(&mut self, generator: ValueId, close_on_genexit: bool, with: With) -> Traced<ValueId> {
        let sent = match with {
            With::Exception(thrown) | With::Closing(thrown) => self.gen_throw(generator, close_on_genexit, thrown)?,
            with => self.gen_send(generator, with)?,
        };
        match sent {
            Sent::Yielded(value) => Ok(value),
            Sent::Returned(_) => self.raise_plain("StopAsyncIteration"),
        }
    }

    /// `async_gen_unwrap_value`: what the generator yields itself is the result of the `await`; the rest goes to the event loop.
    fn unwrap_step(&mut self, generator: ValueId, result: Traced<ValueId>) -> Traced<Sent> {
        match result {
            Ok(value) => match self.state.generators.get(&value) {
                Some(Made::Wrapped(inner)) => {
                    let inner = *inner;
                    self.generator(generator)?.running = false;
                    Ok(Sent::Returned(inner))
                }
                _ => Ok(Sent::Yielded(value)),
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

    pub(crate) fn ends_async(&mut self, signal: &Signal) -> Traced<bool> {
        Ok(self.raised_is(signal, "StopAsyncIteration")? || self.raised_is(signal, "GeneratorExit")?)
    }

    /// A step of what `athrow` or `aclose` gave. CPython: `async_gen_athrow_send`.
    pub(crate) fn athrow_send(
        &mut self,
        id: ValueId,
        generator: ValueId,
        thrown: Option<ValueId>,
        sent: ValueId,
    ) -> Traced<Sent> {
        if self.stage(id)? == Stage::Closed {
            return self.raise("RuntimeError", REUSED_THROW);
        }
        if self.generator(generator)?.progress == Progress::Completed {
            self.set_stage(id, Stage::Closed);
            return Ok(Sent::Returned(self.none()));
        }
        let starts = self.stage(id)? == Stage::Init;
        let with = if starts {
            self.start_athrow(id, generator, thrown)?;
            if self.generator(generator)?.closed {
                self.set_stage(id, Stage::Closed);
                return self.raise_plain("StopAsyncIteration");
            }
            if !self.is_none(sent)? {
                return self.raise("RuntimeError", "can't send non-None value to a just-started coroutine");
            }
            self.set_stage(id, Stage::Iter);
            let state = self.generator(generator)?;
            state.running = true;
            state.closed |= thrown.is_none();
            With::Exception(match thrown {
                Some(thrown) => thrown,
                None => self.generator_exit()?,
            })
        } else {
            With::Value(sent)
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
        self.set_stage(id, Stage::Closed);
        let name = if thrown.is_some() { "athrow" } else { "aclose" };
        self.raise("RuntimeError", format!("{name}(): asynchronous generator is already running"))
    }

    fn end_athrow(&mut self, id: ValueId, generator: ValueId) -> Traced<()> {
        self.generator(generator)?.running = false;
        self.set_stage(id, Stage::Closed);
        Ok(())
    }

    /// What `aclose` makes of the generator's answer: its end is the end of the `await`.
    fn aclose_result(&mut self, id: ValueId, generator: ValueId, result: Traced<ValueId>) -> Traced<Sent> {
        match result {
            Ok(value) if matches!(self.state.generators.get(&value), Some(Made::Wrapped(_))) => {
                self.end_athrow(id, generator)?;
                self.raise("RuntimeError", IGNORED_EXIT)
            }
            Ok(value) => Ok(Sent::Yielded(value)),
            Err(signal) => {
                self.end_athrow(id, generator)?;
                if self.ends_async(&signal)? { Ok(Sent::Returned(self.none())) } else { Err(signal) }
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
    ) -> Traced<Sent> {
        match self.stage(id)? {
            Stage::Closed => return self.raise("RuntimeError", REUSED_THROW),
            Stage::Init => {
                self.start_athrow(id, generator, own)?;
                self.set_stage(id, Stage::Iter);
                self.generator(generator)?.running = true;
            }
            Stage::Iter => {}
        }
        let result = self.async_step(generator, true, With::Exception(thrown));
        match own {
            Some(_) => {
                let result = self.unwrap_step(generator, result);
                if !matches!(result, Ok(Sent::Yielded(_))) {
                    self.end_athrow(id, generator)?;
                }
                result
            }
            None => self.aclose_result(id, generator, result),
        }
    }
}
