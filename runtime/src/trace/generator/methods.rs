//! Methods and attributes of generator objects. CPython: the tables of `Objects/genobject.c`.
use crate::trace::release;
use crate::trace::state::generator::{
    AwaitableState, GeneratorKind, GeneratorObject, GeneratorState, ResumeWith, SendResult,
};
use crate::trace::state::outcome::Effect;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, internal, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyType};

/// What a value drives, taken out of the table for a step.
#[derive(Clone, Copy)]
enum Driven {
    Frame(GeneratorKind),
    Wrapper(ValueId),
    Send(ValueId, ValueId),
    Throw(ValueId, Option<ValueId>),
}

impl<'py> Tracer<'py> {
    fn driven(&self, id: ValueId) -> Option<Driven> {
        Some(match self.state.generators.get(&id)? {
            GeneratorObject::Frame(generator) => Driven::Frame(generator.kind),
            GeneratorObject::Wrapper(coroutine) => Driven::Wrapper(*coroutine),
            GeneratorObject::Send { generator, sent, .. } => Driven::Send(*generator, *sent),
            GeneratorObject::Throw { generator, thrown, .. } => Driven::Throw(*generator, *thrown),
            GeneratorObject::Wrapped(_) => return None,
        })
    }

    /// `tp_iternext`, `send` or `throw`.
    pub(crate) fn step_generator(&mut self, id: ValueId, with: ResumeWith) -> Traced<SendResult> {
        let Some(driven) = self.driven(id) else { return internal("step of a value that does not run") };
        match (driven, with) {
            (Driven::Frame(_), ResumeWith::Exception(thrown)) => self.gen_throw(id, true, thrown),
            (Driven::Frame(_), with) => self.gen_send(id, with),
            (Driven::Wrapper(coroutine), with) => self.step_generator(coroutine, with),
            (Driven::Send(generator, sent), with) => self.asend_step(id, generator, sent, with),
            (Driven::Throw(generator, own), ResumeWith::Exception(thrown) | ResumeWith::Closing(thrown)) => {
                self.athrow_throw(id, generator, own, thrown)
            }
            (Driven::Throw(generator, own), ResumeWith::Value(value)) => self.athrow_send(id, generator, own, value),
            (Driven::Throw(generator, own), ResumeWith::Nothing) => {
                let none = self.none();
                self.athrow_send(id, generator, own, none)
            }
        }
    }

    /// A method of one of these objects.
    pub(crate) fn generator_method(&mut self, id: ValueId, name: &str, args: &[ValueId]) -> Traced<ValueId> {
        let Some(driven) = self.driven(id) else { return unsupported("method of a generator's value", name) };
        let asynchronous = matches!(driven, Driven::Frame(GeneratorKind::AsyncGenerator));
        if asynchronous {
            return self.async_generator_method(id, name, args);
        }
        let stepped = self.is_stepped(id);
        match (name, args) {
            ("__next__", []) if stepped => self.answer(id, ResumeWith::Nothing),
            ("__iter__", []) if stepped => Ok(id),
            ("__await__", []) => match driven {
                Driven::Frame(GeneratorKind::Coroutine) => {
                    Ok(self.new_driven("coroutine_wrapper", GeneratorObject::Wrapper(id)))
                }
                Driven::Send(..) | Driven::Throw(..) => Ok(id),
                _ => unsupported("method of a generator", name),
            },
            ("send", [value]) => self.answer(id, ResumeWith::Value(*value)),
            ("throw", [thrown]) => self.answer(id, ResumeWith::Exception(*thrown)),
            ("throw", [class, value, traceback]) if release::THROWS_IN_PARTS => {
                let thrown = self.thrown_in_parts(id, *class, *value, *traceback)?;
                self.answer(id, ResumeWith::Exception(thrown))
            }
            ("close", []) => self.close(id, driven),
            _ => unsupported("method of a generator", name),
        }
    }

    fn answer(&mut self, id: ValueId, with: ResumeWith) -> Traced<ValueId> {
        let unwraps = self.unwraps_what_is_yielded(id)?;
        match self.step_generator(id, with)? {
            SendResult::Yielded(value) => Ok(value),
            SendResult::Returned(value) => {
                if release::VALUES_STOP_WITHOUT_CONTEXT && (unwraps || !self.is_none(value)?) {
                    return Err(Unwind::Raised(self.stop_iteration_with(value)?));
                }
                let stop = self.new_stop_iteration(value)?;
                self.raise_value(stop)
            }
        }
    }

    /// Whether the step to come ends with what an asynchronous generator yields (`async_gen_unwrap_value`), not with `None` of its own.
    fn unwraps_what_is_yielded(&mut self, id: ValueId) -> Traced<bool> {
        Ok(match self.driven(id) {
            Some(Driven::Send(..)) => true,
            Some(Driven::Throw(generator, Some(_))) => self.generator(generator)?.progress != GeneratorState::Completed,
            _ => false,
        })
    }

    /// The exception of `throw(type, value, traceback)`, where that is an instance and no foreign `throw` gets to see the parts.
    fn thrown_in_parts(&mut self, id: ValueId, class: ValueId, value: ValueId, traceback: ValueId) -> Traced<ValueId> {
        const WHAT: &str = "throw(type, value, traceback)";
        let mut innermost = id;
        while let Some(yf) = self.delegate_of(innermost)? {
            if !matches!(self.kind_of(yf), Some(GeneratorKind::Generator | GeneratorKind::Coroutine)) {
                return unsupported("method of a generator", WHAT);
            }
            innermost = yf;
        }
        let made = self.class_of(value)?;
        let fits = match self.known(class).and_then(|class| class.cast_into::<PyType>().ok()) {
            Some(class) => self.is_exception_instance(value)? && crate::ffi::types::is_subtype(&made, &class),
            None => false,
        };
        if !fits {
            return unsupported("method of a generator", WHAT);
        }
        if !self.is_none(traceback)? {
            self.set_traceback(value, Some(traceback))?;
        }
        Ok(value)
    }

    fn delegate_of(&mut self, id: ValueId) -> Traced<Option<ValueId>> {
        if self.kind_of(id).is_some() { self.gen_yf(id) } else { Ok(None) }
    }

    fn close(&mut self, id: ValueId, driven: Driven) -> Traced<ValueId> {
        let none = self.none();
        match driven {
            Driven::Frame(_) => return self.gen_close(id),
            Driven::Wrapper(coroutine) => return self.gen_close(coroutine),
            Driven::Send(..) | Driven::Throw(..) => {}
        }
        if matches!(
            self.state.generators.get(&id),
            Some(
                GeneratorObject::Send { stage: AwaitableState::Closed, .. }
                    | GeneratorObject::Throw { stage: AwaitableState::Closed, .. }
            )
        ) {
            return Ok(none);
        }
        let exit = self.generator_exit()?;
        match self.step_generator(id, ResumeWith::Exception(exit)) {
            Ok(SendResult::Returned(_)) => Ok(none),
            Ok(SendResult::Yielded(_)) => self.raise("RuntimeError", "coroutine ignored GeneratorExit"),
            Err(signal) if self.is_an_end(&signal)? => Ok(none),
            Err(signal) => Err(signal),
        }
    }

    fn is_an_end(&mut self, signal: &Unwind) -> Traced<bool> {
        Ok(self.raised_is(signal, "StopIteration")? || self.ends_async(signal)?)
    }

    fn async_generator_method(&mut self, id: ValueId, name: &str, args: &[ValueId]) -> Traced<ValueId> {
        match (name, args) {
            ("__aiter__", []) => Ok(id),
            ("__anext__", []) => self.anext_of(id),
            ("asend", [value]) => {
                self.rely_on_no_hooks()?;
                Ok(self.new_driven(
                    "async_generator_asend",
                    GeneratorObject::Send { generator: id, sent: *value, stage: AwaitableState::Init },
                ))
            }
            ("athrow", [thrown]) => self.new_athrow(id, Some(*thrown)),
            ("aclose", []) => self.new_athrow(id, None),
            _ => unsupported("method of an asynchronous generator", name),
        }
    }

    /// `am_anext` of an asynchronous generator.
    pub(crate) fn anext_of(&mut self, generator: ValueId) -> Traced<ValueId> {
        self.rely_on_no_hooks()?;
        let sent = self.none();
        Ok(self.new_driven(
            "async_generator_asend",
            GeneratorObject::Send { generator, sent, stage: AwaitableState::Init },
        ))
    }

    fn new_athrow(&mut self, generator: ValueId, thrown: Option<ValueId>) -> Traced<ValueId> {
        self.rely_on_no_hooks()?;
        Ok(self.new_driven(
            "async_generator_athrow",
            GeneratorObject::Throw { generator, thrown, stage: AwaitableState::Init },
        ))
    }

    /// `async_gen_init_hooks` has nothing to call.
    fn rely_on_no_hooks(&mut self) -> Traced<()> {
        let get = self.import("sys", "get_asyncgen_hooks")?;
        let hooks = get.call0().or_else(|error| self.raise_error(error))?;
        let none = hooks.try_iter().is_ok_and(|hooks| hooks.flatten().all(|hook| hook.is_none()));
        if !none {
            return unsupported("asynchronous generator under an event loop", "sys.set_asyncgen_hooks");
        }
        self.call_and_guard(&get, &pyo3::types::PyTuple::empty(self.py)).map(drop)
    }

    /// An attribute that no method stands behind; `None` for the rest.
    pub(crate) fn generator_attr(&mut self, id: ValueId, name: &str) -> Traced<Option<ValueId>> {
        let Some(kind) = self.kind_of(id) else { return Ok(None) };
        let field = match (kind, name) {
            (_, "__name__" | "__qualname__") => name,
            (GeneratorKind::Generator, "gi_running" | "gi_suspended" | "gi_frame" | "gi_code" | "gi_yieldfrom")
            | (GeneratorKind::Coroutine, "cr_running" | "cr_suspended" | "cr_frame" | "cr_code" | "cr_await")
            | (GeneratorKind::AsyncGenerator, "ag_running" | "ag_suspended" | "ag_frame" | "ag_code" | "ag_await") => {
                name.get(3..).unwrap_or(name)
            }
            _ => return Ok(None),
        };
        let generator = self.generator(id)?;
        let (progress, running) = (generator.progress, generator.running);
        match field {
            "running" => {
                let running =
                    if kind == GeneratorKind::AsyncGenerator { running } else { progress == GeneratorState::Executing };
                self.flag(running)
            }
            "suspended" => self.flag(matches!(progress, GeneratorState::Suspended | GeneratorState::Delegating)),
            "frame" if progress == GeneratorState::Completed => Ok(Some(self.none())),
            "code" => {
                let code = {
                    let py = self.py;
                    self.generator(id)?.code.bind(py).clone()
                };
                Ok(Some(self.constant(code)))
            }
            "yieldfrom" | "await" => {
                let Some(delegate) = self.gen_yf(id)? else { return Ok(Some(self.none())) };
                self.refuse_sequence_iterator(delegate)?;
                Ok(Some(delegate))
            }
            "__name__" | "__qualname__" => {
                let function = {
                    let py = self.py;
                    self.generator(id)?.function.bind(py).clone()
                };
                self.name_of_generator(function, field).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The name that the function had when it was called.
    fn name_of_generator(&mut self, function: Bound<'py, PyAny>, field: &str) -> Traced<ValueId> {
        let function = self.absorb_static(function);
        self.refuse_renamed(function)?;
        self.get_attr(function, field)
    }

    /// A generator has the name that its function had when it was called; compiled code sets names when it has made what leaves it.
    pub(crate) fn refuse_renamed(&self, function: ValueId) -> Traced<()> {
        let sets = |effect: &Effect| match effect {
            Effect::SetAttr { object, name, .. } | Effect::DelAttr { object, name } => {
                *object == function && matches!(name.as_str(), "__name__" | "__qualname__")
            }
            _ => false,
        };
        match self.state.effects.iter().any(sets) {
            true => unsupported("generator of a function that got another name", "__name__"),
            false => Ok(()),
        }
    }

    fn flag(&mut self, flag: bool) -> Traced<Option<ValueId>> {
        let flag = PyBool::new(self.py, flag).to_owned().into_any();
        Ok(Some(self.constant(flag)))
    }
}
