//! The objects that `await`, `async for` and `async with` get from a value.
use crate::bytecode::flag;
use crate::ffi::types;
use crate::guard::Check;
use crate::guard::source::Source;
use crate::names::name;
use crate::semantics::abstract_ as protocol;
use crate::trace::release;
use crate::trace::state::generator::{GeneratorKind, GeneratorObject};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind};
use crate::trace::state::value::ValueId;
use generated::capi::CApi;
use generated::slots::Slot;
use pyo3::prelude::*;
use std::sync::Arc;

impl<'py> Tracer<'py> {
    /// `_PyCoro_GetAwaitableIter`; `None` where the type has no `am_await`.
    pub(crate) fn awaitable_iter(&mut self, value: ValueId) -> Traced<Option<ValueId>> {
        if self.is_own_coroutine(value) || self.is_iterable_coroutine(value) {
            return Ok(Some(value));
        }
        if matches!(
            self.state.generators.get(&value),
            Some(GeneratorObject::Send { .. } | GeneratorObject::Throw { .. })
        ) {
            return Ok(Some(value));
        }
        let class = self.class_of(value)?;
        let Some(function) = self.slot_function(&class, Slot::am_await)? else { return Ok(None) };
        let iterator = self.call_unaryfunc(&function, &value)?;
        let class = self.class_of(iterator)?;
        if self.is_own_coroutine(iterator) || types::is_c_class(&class, "coroutine") {
            let before = || "__await__() returned a coroutine".to_owned();
            return self.raise_not_iterator(value, "coroutine", before);
        }
        if protocol::PyIter_Check(self, &iterator)? == 0 {
            let full_name = self.full_name_of_class(iterator)?;
            let before = || format!("__await__() returned non-iterator of type '{}'", types::name(&class));
            return self.raise_not_iterator(value, &full_name, before);
        }
        Ok(Some(iterator))
    }

    /// Raises for an `__await__` that gave something else; `before`: what releases up to 3.14 say.
    fn raise_not_iterator<T>(&mut self, value: ValueId, what: &str, before: impl Fn() -> String) -> Traced<T> {
        let message = if release::NAMES_CLASS_AND_METHOD {
            format!("{}.__await__() must return an iterator, not {what}", self.full_name_of_class(value)?)
        } else {
            before()
        };
        self.raise("TypeError", message)
    }

    /// A coroutine, or a generator that `types.coroutine` made one.
    fn is_own_coroutine(&self, value: ValueId) -> bool {
        match self.state.generators.get(&value) {
            Some(GeneratorObject::Frame(generator)) => match generator.kind {
                GeneratorKind::Coroutine => true,
                GeneratorKind::Generator => {
                    let flags = generator.code.bind(self.py).getattr(name!("co_flags"));
                    flags
                        .and_then(|flags| flags.extract::<u32>())
                        .is_ok_and(|flags| flags & flag::ITERABLE_COROUTINE != 0)
                }
                GeneratorKind::AsyncGenerator => false,
            },
            _ => false,
        }
    }

    /// A generator from outside that `types.coroutine` made a coroutine.
    fn is_iterable_coroutine(&mut self, value: ValueId) -> bool {
        let (Some(object), Some(source)) = (self.real(value), self.source(value)) else { return false };
        let code = match types::is_c_class(&object.get_type(), "generator") {
            true => object.getattr(name!("gi_code")).ok(),
            false => None,
        };
        let Some(code) = code else { return false };
        let flags = code.getattr(name!("co_flags")).and_then(|flags| flags.extract::<u32>());
        let source = Source::Attr(Arc::new(source), "gi_code".into());
        self.guard(source, Check::Is(code.unbind()), "the trace waits for a generator");
        flags.is_ok_and(|flags| flags & flag::ITERABLE_COROUTINE != 0)
    }

    /// What the coroutine waits for, if it is one that is being awaited.
    pub(crate) fn is_awaited(&mut self, iterator: ValueId) -> Traced<bool> {
        Ok(self.kind_of(iterator) == Some(GeneratorKind::Coroutine) && self.gen_yf(iterator)?.is_some())
    }

    /// Whether it is a coroutine that the trace made.
    pub(crate) fn is_coroutine(&self, value: ValueId) -> bool {
        self.kind_of(value) == Some(GeneratorKind::Coroutine)
    }

    /// `GET_ANEXT`: what to wait for.
    pub(crate) fn async_next(&mut self, iterator: ValueId) -> Traced<ValueId> {
        if self.kind_of(iterator) == Some(GeneratorKind::AsyncGenerator) {
            return self.anext_of(iterator);
        }
        let class = self.class_of(iterator)?;
        let name = types::name(&class);
        let Some(function) = self.slot_function(&class, Slot::am_anext)? else {
            let message = format!("'async for' requires an iterator with __anext__ method, got {name}");
            return self.raise("TypeError", message);
        };
        let next = self.call_unaryfunc(&function, &iterator)?;
        let class = self.class_of(next)?;
        let name = types::name(&class);
        let cause = match self.awaitable_iter(next) {
            Ok(Some(awaitable)) => return Ok(awaitable),
            Ok(None) => {
                let message = release::not_awaitable(&name);
                match self.raise::<ValueId>("TypeError", message) {
                    Err(Unwind::Raised(cause)) => cause,
                    other => return other,
                }
            }
            Err(Unwind::Raised(cause)) => cause,
            Err(other) => return Err(other),
        };
        let message = format!("'async for' received an invalid object from __anext__: {name}");
        self.raise_from_cause("TypeError", message, cause)
    }

    /// `GET_AITER`.
    pub(crate) fn async_iter(&mut self, value: ValueId) -> Traced<ValueId> {
        if self.kind_of(value) == Some(GeneratorKind::AsyncGenerator) {
            return Ok(value);
        }
        let class = self.class_of(value)?;
        let Some(function) = self.slot_function(&class, Slot::am_aiter)? else {
            let name = types::name(&class);
            return self
                .raise("TypeError", format!("'async for' requires an object with __aiter__ method, got {name}"));
        };
        let iterator = self.call_unaryfunc(&function, &value)?;
        let class = self.class_of(iterator)?;
        if self.kind_of(iterator) != Some(GeneratorKind::AsyncGenerator)
            && self.slot_function(&class, Slot::am_anext)?.is_none()
        {
            let name = types::name(&class);
            let message =
                format!("'async for' received an object from __aiter__ that does not implement __anext__: {name}");
            return self.raise("TypeError", message);
        }
        Ok(iterator)
    }

    /// `_PyErr_FormatFromCause`: the exception handled while raising is its cause.
    fn raise_from_cause<T>(&mut self, class: &str, message: String, cause: ValueId) -> Traced<T> {
        let raised = match self.raise::<T>(class, message) {
            Err(Unwind::Raised(raised)) => raised,
            other => return other,
        };
        self.set_cause_and_context(raised, cause)?;
        Err(Unwind::Raised(raised))
    }

    /// `PyException_SetCause` and `PyException_SetContext`.
    pub(crate) fn set_cause_and_context(&mut self, raised: ValueId, cause: ValueId) -> Traced<()> {
        let (Some(raised), Some(cause)) = (self.owned(raised), self.owned(cause)) else {
            return crate::trace::state::unwind::unsupported("cause of an exception", "the exception is from outside");
        };
        crate::trace::state::journal::changed();
        let set =
            raised.setattr(name!("__cause__"), &cause).and_then(|()| raised.setattr(name!("__context__"), &cause));
        set.or_else(|error| crate::trace::state::unwind::internal(error.to_string()))
    }
}
