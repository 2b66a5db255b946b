//! Makes generators, coroutines and asynchronous generators, and finds their parts. CPython: `Objects/genobject.c`.
//!
//! Each object is a value of its own; `State::generators` holds its parts.
use crate::trace::state::generator::{AwaitableState, Generator, GeneratorKind, GeneratorObject, GeneratorState};

use crate::trace::exception::filtered_warnings::USED_REGISTRY;
use crate::trace::state::frame::Frame;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal, unsupported};
use crate::trace::state::value::{LATER_ATTRIBUTE, LATER_HANDLE, New, Value, ValueId, ValueSet};
use pyo3::prelude::*;
use pyo3::types::PyType;

impl<'py> Tracer<'py> {
    /// A new object around a frame that ran into `RETURN_GENERATOR`.
    pub(crate) fn make_generator(&mut self, frame: Frame) -> Traced<ValueId> {
        let Some(kind) = GeneratorKind::of_flags(frame.code.flags) else { return internal("generator flags") };
        if !self.state.effects.is_empty() {
            let function = self.absorb_static(frame.function.bind(self.py).clone());
            self.refuse_renamed(function)?;
        }
        let (function, code) = (frame.function.clone_ref(self.py), frame.code.original.clone_ref(self.py));
        let generator = Generator {
            kind,
            progress: GeneratorState::Created,
            frame: Some(Box::new(frame)),
            function,
            code,
            closed: false,
            running: false,
        };
        Ok(self.new_driven(kind.class(), GeneratorObject::Frame(generator)))
    }

    pub(crate) fn new_driven(&mut self, class: &'static str, made: GeneratorObject) -> ValueId {
        let id = self.push(Value::New(New::Opaque(class)));
        self.state.generators.insert(id, made);
        id
    }

    /// `_PyAsyncGenValueWrapperNew`.
    pub(crate) fn async_gen_wrap(&mut self, value: ValueId) -> ValueId {
        self.new_driven("async_generator_wrapped_value", GeneratorObject::Wrapped(value))
    }

    pub(crate) fn generator(&mut self, id: ValueId) -> Traced<&mut Generator> {
        match self.state.generators.get_mut(&id) {
            Some(GeneratorObject::Frame(generator)) => Ok(generator),
            _ => internal("generator expected"),
        }
    }

    pub(crate) fn kind_of(&self, id: ValueId) -> Option<GeneratorKind> {
        match self.state.generators.get(&id) {
            Some(GeneratorObject::Frame(generator)) => Some(generator.kind),
            _ => None,
        }
    }

    /// Whether the trace made it, and its type has a `tp_iternext`.
    pub(crate) fn is_stepped(&self, id: ValueId) -> bool {
        match self.state.generators.get(&id) {
            Some(GeneratorObject::Frame(generator)) => generator.kind == GeneratorKind::Generator,
            Some(GeneratorObject::Wrapper(_) | GeneratorObject::Send { .. } | GeneratorObject::Throw { .. }) => true,
            Some(GeneratorObject::Wrapped(_)) | None => false,
        }
    }

    /// A coroutine that nobody has awaited, and that is not among what leaves the trace: its end warns.
    pub(crate) fn never_awaited(&self, leaving: &ValueSet) -> Option<ValueId> {
        let left = self.state.generators.iter().filter(|(id, made)| {
            matches!(
                made,
                GeneratorObject::Frame(Generator {
                    progress: GeneratorState::Created,
                    kind: GeneratorKind::Coroutine,
                    ..
                })
            ) && !leaving.contains(**id)
        });
        left.map(|(id, _)| *id).min()
    }

    /// Those whose end, when nothing refers to them any more, meets handlers or warns: a `finally`, a `with`, an `except`.
    pub(crate) fn left_suspended(&self) -> Vec<ValueId> {
        let left = self.state.generators.iter().filter(|(_, made)| match made {
            GeneratorObject::Frame(generator) => generator.ends_in_code(),
            GeneratorObject::Send { stage, .. } | GeneratorObject::Throw { stage, .. } => {
                *stage == AwaitableState::Init
            }
            GeneratorObject::Wrapper(_) | GeneratorObject::Wrapped(_) => false,
        });
        let mut left: Vec<ValueId> = left.map(|(id, _)| *id).collect();
        left.sort_unstable();
        left
    }

    /// The class of an object of this room, by CPython's name.
    pub(crate) fn opaque_class(&mut self, name: &'static str) -> Traced<Bound<'py, PyType>> {
        if Self::is_number_kind(name) {
            return Ok(self.py.get_type::<pyo3::types::PyInt>());
        }
        if let Some(class) = self.class_of_view(name) {
            return Ok(class);
        }
        if let Some(class) = self.class_of_whole(name).or_else(|| self.class_in_open_loop(name)) {
            return Ok(class);
        }
        if let Some(class) = self.class_in_contextvars(name) {
            return Ok(class);
        }
        if name == LATER_ATTRIBUTE {
            return self.know_attributes();
        }
        if name == USED_REGISTRY {
            return unsupported("warnings after others of the trace", name);
        }
        if name == LATER_HANDLE {
            let class = self.state.domains.iter().find_map(|domain| domain.class_of_handles(self.py));
            return class.map_or_else(|| unsupported("handle of a hook that is set after the graph", name), Ok);
        }
        let object = self.py.get_type::<PyAny>();
        self.state.shared_caches.nameless(&object, name).or_else(|error| internal(error.to_string()))
    }
}

impl Generator {
    fn ends_in_code(&self) -> bool {
        match self.progress {
            GeneratorState::Suspended | GeneratorState::Delegating => self
                .frame
                .as_ref()
                .is_some_and(|frame| frame.suspended_at().is_some_and(|instr| frame.ends_in_code(instr))),
            GeneratorState::Created | GeneratorState::Executing | GeneratorState::Completed => false,
        }
    }
}
