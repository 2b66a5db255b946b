//! The parts of generators, coroutines, and the objects that drive them.
use super::frame::Frame;
use super::value::ValueId;
use crate::bytecode::flag;
use pyo3::prelude::*;

/// What a code object's flags make of its frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GeneratorKind {
    Generator,
    Coroutine,
    AsyncGenerator,
}

impl GeneratorKind {
    /// What a call of code with these flags makes.
    pub(crate) fn of_flags(flags: u32) -> Option<Self> {
        match flags & flag::GENERATOR_LIKE {
            flag::GENERATOR => Some(GeneratorKind::Generator),
            flag::COROUTINE => Some(GeneratorKind::Coroutine),
            flag::ASYNC_GENERATOR => Some(GeneratorKind::AsyncGenerator),
            _ => None,
        }
    }

    /// As messages call it.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            GeneratorKind::Generator => "generator",
            GeneratorKind::Coroutine => "coroutine",
            GeneratorKind::AsyncGenerator => "async generator",
        }
    }

    pub(crate) fn class(self) -> &'static str {
        match self {
            GeneratorKind::Generator => "generator",
            GeneratorKind::Coroutine => "coroutine",
            GeneratorKind::AsyncGenerator => "async_generator",
        }
    }
}

/// `PyFrameState`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GeneratorState {
    Created,
    Suspended,
    /// Suspended at a `yield from` or `await`.
    Delegating,
    Executing,
    Completed,
}

/// `PyGenObject`.
#[derive(Debug)]
pub(crate) struct Generator {
    pub(crate) kind: GeneratorKind,
    pub(crate) progress: GeneratorState,
    /// There unless it executes or has ended.
    pub(crate) frame: Option<Box<Frame>>,
    pub(crate) function: Py<PyAny>,
    pub(crate) code: Py<PyAny>,
    /// `ag_closed`.
    pub(crate) closed: bool,
    /// `ag_running_async`.
    pub(crate) running: bool,
}

/// `AwaitableState`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AwaitableState {
    Init,
    Iter,
    Closed,
}

/// What a value of this room is.
#[derive(Debug)]
pub(crate) enum GeneratorObject {
    Frame(Generator),
    /// `coroutine_wrapper`: what `__await__` of a coroutine gives.
    Wrapper(ValueId),
    /// `async_generator_asend`; `sent` is what its first step sends.
    Send {
        generator: ValueId,
        sent: ValueId,
        stage: AwaitableState,
    },
    /// `async_generator_athrow`; `aclose()` throws nothing of its own.
    Throw {
        generator: ValueId,
        thrown: Option<ValueId>,
        stage: AwaitableState,
    },
    /// `async_generator_wrapped_value`: an asynchronous generator's `yield`.
    Wrapped(ValueId),
}

/// How a step ended that raised nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SendResult {
    Yielded(ValueId),
    Returned(ValueId),
}

/// What a frame is resumed with.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ResumeWith {
    /// What `send` sends.
    Value(ValueId),
    /// `tp_iternext`.
    Nothing,
    Exception(ValueId),
    /// The exception by which `close` ends it.
    Closing(ValueId),
}
