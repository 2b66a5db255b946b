//! `await`, `async for` and `async with`.
use crate::ffi::types;
use crate::trace::release;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::frame::{Flow, Frame};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind};

impl<'py> Tracer<'py> {
    /// `[awaitable]` → `[iterator]`; `what` says which part of an `async with` waits.
    pub(crate) fn get_awaitable(&mut self, frame: &mut Frame, what: u32) -> Traced<Flow> {
        let value = frame.pop()?;
        let Some(iterator) = self.awaitable_iter(value)? else {
            let name = types::name(&self.class_of(value)?);
            let method = match what {
                1 => Some("__aenter__"),
                2 => Some("__aexit__"),
                _ => None,
            };
            let message = match method {
                Some(method) => {
                    format!("'async with' received an object from {method} that does not implement __await__: {name}")
                }
                None => release::not_awaitable(&name),
            };
            return self.raise("TypeError", message);
        };
        if self.is_awaited(iterator)? {
            return self.raise("RuntimeError", "coroutine is being awaited already");
        }
        frame.push(iterator);
        Ok(Flow::Next)
    }

    pub(crate) fn get_aiter(&mut self, frame: &mut Frame) -> Traced<Flow> {
        let value = frame.pop()?;
        let iterator = self.async_iter(value)?;
        frame.push(iterator);
        Ok(Flow::Next)
    }

    /// `[iterator]` → `[iterator, awaitable]`.
    pub(crate) fn get_anext(&mut self, frame: &mut Frame) -> Traced<Flow> {
        let iterator = frame.peek(1)?;
        let awaitable = self.async_next(iterator)?;
        frame.push(awaitable);
        Ok(Flow::Next)
    }

    /// `[manager]` → `[exit, awaitable of enter]`.
    pub(crate) fn before_async_with(&mut self, frame: &mut Frame) -> Traced<Flow> {
        let manager = frame.pop()?;
        let enter = self.special(manager, "__aenter__")?;
        let class = self.class_of(manager)?;
        let name = types::name(&class);
        let Some(enter) = enter else {
            let message = format!("'{name}' object does not support the asynchronous context manager protocol");
            return self.raise("TypeError", message);
        };
        let Some(exit) = self.special(manager, "__aexit__")? else {
            let message = format!(
                "'{name}' object does not support the asynchronous context manager protocol (missed __aexit__ method)"
            );
            return self.raise("TypeError", message);
        };
        frame.push(exit);
        let result = self.call(enter, Arguments::default())?;
        frame.push(result);
        Ok(Flow::Next)
    }

    /// `[iterator, exception]`: `StopAsyncIteration` ends the loop.
    pub(crate) fn end_async_for(&mut self, frame: &mut Frame) -> Traced<Flow> {
        let exception = frame.pop()?;
        let raised = Unwind::Raised(exception);
        if !self.raised_is(&raised, "StopAsyncIteration")? {
            return Err(raised);
        }
        frame.pop()?;
        Ok(Flow::Next)
    }
}
