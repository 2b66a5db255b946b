//! Generators, coroutines and asynchronous generators that the trace made: frames that are set aside, and the objects that drive them.
//!
//! CPython: `Objects/genobject.c`. Each object is a value of its own; what it is made of stands in `State::generators`.

use crate::bytecode::flag;
use crate::trace::run::frame::Frame;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal};
use crate::trace::state::value::{Met, New, Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::PyType;

/// What a code object's flags make of its frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Generator,
    Coroutine,
    AsyncGenerator,
}

impl Kind {
    /// What a call of code with these flags makes.
    pub(crate) fn of_flags(flags: u32) -> Option<Self> {
        match flags & flag::GENERATOR_LIKE {
            flag::GENERATOR => Some(Kind::Generator),
            flag::COROUTINE => Some(Kind::Coroutine),
            flag::ASYNC_GENERATOR => Some(Kind::AsyncGenerator),
            _ => None,
        }
    }

    /// As messages call it.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Kind::Generator => "generator",
            Kind::Coroutine => "coroutine",
            Kind::AsyncGenerator => "async generator",
        }
    }

    fn class(self) -> &'static str {
        match self {
            Kind::Generator => "generator",
            Kind::Coroutine => "coroutine",
            Kind::AsyncGenerator => "async_generator",
        }
    }
}

/// `PyFrameState`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
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
    pub(crate) kind: Kind,
    pub(crate) progress: Progress,
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
pub(crate) enum Stage {
    Init,
    Iter,
    Closed,
}

/// What a value of this room is.
#[derive(Debug)]
pub(crate) enum Made {
    Frame(Generator),
    /// `coroutine_wrapper`: what `__await__` of a coroutine gives.
    Wrapper(ValueId),
    /// `async_generator_asend`; `sent` is what its first step sends.
    Send {
        generator: ValueId,
        sent: ValueId,
        stage: Stage,
    },
    /// `async_generator_athrow`; `aclose()` throws nothing of its own.
    Throw {
        generator: ValueId,
        thrown: Option<ValueId>,
        stage: Stage,
    },
    /// `async_generator_wrapped_value`: an asynchronous generator's `yield`.
    Wrapped(ValueId),
}

/// How a step ended that raised nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sent {
    Yielded(ValueId),
    Returned(ValueId),
}

impl<'py> Tracer<'py> {
    /// A new object around a frame that ran into `RETURN_GENERATOR`.
    pub(crate) fn make_generator(&mut self, frame: Frame) -> Traced<ValueId> {
        let Some(kind) = Kind::of_flags(frame.code.flags) else { return internal("generator flags") };
        let (function, code) = (frame.function.clone_ref(self.py), frame.code.original.clone_ref(self.py));
        let generator = Generator {
            kind,
            progress: Progress::Created,
            frame: Some(Box::new(frame)),
            function,
            code,
            closed: false,
            running: false,
        };
        Ok(self.new_driven(kind.class(), Made::Frame(generator)))
    }

    pub(crate) fn new_driven(&mut self, class: &'static str, made: Made) -> ValueId {
        let id = self.push(Value::New(New::Opaque(class)));
        self.state.generators.insert(id, made);
        id
    }

    /// `_PyAsyncGenValueWrapperNew`.
    pub(crate) fn async_gen_wrap(&mut self, value: ValueId) -> ValueId {
        self.new_driven("async_generator_wrapped_value", Made::Wrapped(value))
    }

    pub(crate) fn generator(&mut self, id: ValueId) -> Traced<&mut Generator> {
        match self.state.generators.get_mut(&id) {
            Some(Made::Frame(generator)) => Ok(generator),
            _ => internal("generator expected"),
        }
    }

    pub(crate) fn kind_of(&self, id: ValueId) -> Option<Kind> {
        match self.state.generators.get(&id) {
            Some(Made::Frame(generator)) => Some(generator.kind),
            _ => None,
        }
    }

    /// Whether the trace made it, and its type has a `tp_iternext`.
    pub(crate) fn is_stepped(&self, id: ValueId) -> bool {
        match self.state.generators.get(&id) {
            Some(Made::Frame(generator)) => generator.kind == Kind::Generator,
            Some(Made::Wrapper(_) | Made::Send { .. } | Made::Throw { .. }) => true,
            Some(Made::Wrapped(_)) | None => false,
        }
    }

    /// A coroutine that nobody has awaited, and that is not among what leaves the trace: its end warns.
    pub(crate) fn never_awaited(&self, leaving: &Met) -> Option<ValueId> {
        let left = self.state.generators.iter().filter(|(id, made)| {
            matches!(made, Made::Frame(Generator { progress: Progress::Created, kind: Kind::Coroutine, .. }))
                && !leaving.contains(**id)
        });
        left.map(|(id, _)| *id).min()
    }

    /// One whose end, when nothing refers to it any more, runs code or warns: a `finally`, a `with`.
    pub(crate) fn left_suspended(&self) -> Option<ValueId> {
        let left = self.state.generators.iter().filter(|(_, made)| match made {
            Made::Frame(generator) => generator.ends_in_code(),
            Made::Send { stage, .. } | Made::Throw { stage, .. } => *stage == Stage::Init,
            Made::Wrapper(_) | Made::Wrapped(_) => false,
        });
        left.map(|(id, _)| *id).min()
    }

    /// The class of an object of this room, by CPython's name.
    pub(crate) fn opaque_class(&mut self, name: &'static str) -> Traced<Bound<'py, PyType>> {
        if Self::is_number_kind(name) {
            return Ok(self.py.get_type::<pyo3::types::PyInt>());
        }
        let object = self.py.get_type::<PyAny>();
        self.state.lasting.nameless(&object, name).or_else(|error| internal(error.to_string()))
    }
}

impl Generator {
    fn ends_in_code(&self) -> bool {
        match self.progress {
            Progress::Suspended | Progress::Delegating => self
                .frame
                .as_ref()
                .is_some_and(|frame| frame.suspended_at().is_some_and(|instr| frame.ends_in_code(instr))),
            Progress::Created | Progress::Executing | Progress::Completed => false,
        }
    }
}
