//! `raise`, handlers and `with`.
use crate::ffi::types;
use crate::names::name;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::frame::{Flow, Frame};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, internal, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

impl<'py> Tracer<'py> {
    pub(crate) fn load_assertion_error(&mut self, frame: &mut Frame) -> Traced<Flow> {
        let class = self.import("builtins", "AssertionError")?;
        let class = self.constant(class);
        frame.push(class);
        Ok(Flow::Next)
    }

    /// An exception instance from what `raise` got: a class is called.
    pub(crate) fn exception_from(&mut self, value: ValueId) -> Traced<ValueId> {
        if self.is_exception_class(value) {
            let made = self.call(value, Arguments::default())?;
            let made_class = self.class_of(made)?;
            if made_class.is_subclass_of::<PyBaseException>().unwrap_or(false) {
                return Ok(made);
            }
            return unsupported("raise of a class that makes no exception", types::name(&made_class));
        }
        if self.is_exception_instance(value)? {
            return Ok(value);
        }
        self.raise("TypeError", "exceptions must derive from BaseException")
    }

    /// `PyExceptionClass_Check`.
    pub(crate) fn is_exception_class(&mut self, value: ValueId) -> bool {
        let class = self.known(value).and_then(|object| object.cast_into::<PyType>().ok());
        class.is_some_and(|class| class.is_subclass_of::<PyBaseException>().unwrap_or(false))
    }

    /// `PyExceptionInstance_Check`.
    pub(crate) fn is_exception_instance(&mut self, value: ValueId) -> Traced<bool> {
        Ok(self.class_of(value)?.is_subclass_of::<PyBaseException>().unwrap_or(false))
    }

    pub(crate) fn raise_varargs(&mut self, frame: &mut Frame, count: u32) -> Traced<Flow> {
        let cause = if count == 2 { Some(frame.pop()?) } else { None };
        if count == 0 {
            let handled = self.handled_exception()?;
            if self.is_none(handled)? {
                return self.raise("RuntimeError", "No active exception to reraise");
            }
            return Err(Unwind::Raised(handled));
        }
        let value = frame.pop()?;
        let exception = self.exception_from(value)?;
        if let Some(cause) = cause {
            self.set_cause(exception, cause)?;
        }
        if self.owned(exception).is_none() && frame.outermost {
            return unsupported("raise of an exception from outside", "its traceback and context change");
        }
        self.raise_value(exception)
    }

    fn set_cause(&mut self, exception: ValueId, cause: ValueId) -> Traced<()> {
        let is_class = self.known(cause).is_some_and(|cause| cause.is_instance_of::<PyType>());
        let cause_class = self.class_of(cause)?;
        let is_exception = cause_class.is_subclass_of::<PyBaseException>().unwrap_or(false);
        let cause = match self.is_none(cause)? {
            true => cause,
            false if is_class || is_exception => self.exception_from(cause)?,
            false => return self.raise("TypeError", "exception causes must derive from BaseException"),
        };
        let object = self.at_hand(cause);
        let (Some(exception), Some(cause)) = (self.owned(exception), object) else {
            return unsupported("raise from", "the exception is from outside");
        };
        crate::trace::state::journal::changed();
        exception.setattr(name!("__cause__"), cause).or_else(|error| internal(error.to_string()))
    }

    /// `[…, exception]`, or with `lasti` below it.
    pub(crate) fn reraise(&mut self, frame: &mut Frame) -> Traced<Flow> {
        let value = frame.pop()?;
        Err(Unwind::Raised(value))
    }

    pub(crate) fn push_exc_info(&mut self, frame: &mut Frame) -> Traced<Flow> {
        let value = frame.pop()?;
        let previous = match *self.state.exc_info {
            Some(previous) => previous,
            None => self.none(),
        };
        frame.push(previous);
        frame.push(value);
        *self.state.exc_info = Some(value);
        Ok(Flow::Next)
    }

    pub(crate) fn pop_except(&mut self, frame: &mut Frame) -> Traced<Flow> {
        let previous = frame.pop()?;
        let none = self.real(previous).is_some_and(|object| object.is_none());
        *self.state.exc_info = (!none).then_some(previous);
        Ok(Flow::Next)
    }

    pub(crate) fn check_exc_match(&mut self, frame: &mut Frame) -> Traced<Flow> {
        let wanted = frame.pop()?;
        let exception = frame.peek(1)?;
        let class = self.class_of(exception)?;
        let matched = self.exception_matches(&class, wanted)?;
        let result = self.boolean(matched);
        frame.push(result);
        Ok(Flow::Next)
    }

    fn exception_matches(&mut self, class: &Bound<'py, PyType>, wanted: ValueId) -> Traced<bool> {
        let wanted = self.exception_classes(wanted)?;
        Ok(wanted.iter().any(|wanted| types::is_subtype(class, wanted)))
    }

    pub(crate) fn exception_classes(&mut self, wanted: ValueId) -> Traced<Vec<Bound<'py, PyType>>> {
        const MESSAGE: &str = "catching classes that do not inherit from BaseException is not allowed";
        let items = match self.known(wanted).or_else(|| self.owned(wanted)) {
            Some(object) => match object.cast::<PyTuple>() {
                Ok(tuple) => tuple.iter().map(|item| self.absorb(item)).collect(),
                Err(_) => vec![wanted],
            },
            None => match self.private_copy(wanted)? {
                Some(_) => self.list_of(wanted, None)?,
                None => vec![wanted],
            },
        };
        let mut classes = Vec::new();
        for item in items {
            match self.known(item).and_then(|object| object.cast_into::<PyType>().ok()) {
                Some(class) if class.is_subclass_of::<PyBaseException>().unwrap_or(false) => classes.push(class),
                _ => return self.raise("TypeError", MESSAGE),
            }
        }
        Ok(classes)
    }

    /// `[manager]` → `[exit, result of enter]`.
    pub(crate) fn before_with(&mut self, frame: &mut Frame) -> Traced<Flow> {
        let manager = frame.pop()?;
        let enter = self.special(manager, "__enter__")?;
        let exit = self.special(manager, "__exit__")?;
        let class = self.class_of(manager)?;
        let name = types::name(&class);
        let Some(enter) = enter else {
            return self.raise("TypeError", format!("'{name}' object does not support the context manager protocol"));
        };
        let Some(exit) = exit else {
            let message =
                format!("'{name}' object does not support the context manager protocol (missed __exit__ method)");
            return self.raise("TypeError", message);
        };
        frame.push(exit);
        let result = self.call(enter, Arguments::default())?;
        frame.push(result);
        Ok(Flow::Next)
    }

    /// `[manager]` → what a call of one of its special methods finds. CPython: `_Py_SpecialMethods`.
    pub(crate) fn load_special(&mut self, frame: &mut Frame, which: u32) -> Traced<Flow> {
        const METHODS: [&str; 4] = ["__enter__", "__exit__", "__aenter__", "__aexit__"];
        let Some(name) = METHODS.get(which as usize) else { return internal("LOAD_SPECIAL argument") };
        let manager = frame.pop()?;
        let Some(method) = self.special(manager, name)? else {
            return self.lacks_special(manager, which as usize / 2, name);
        };
        // CPython: `_PyObject_LookupSpecialMethod` leaves function and object apart.
        let (function, receiver) = self.unbound(method);
        frame.push_callable(function, receiver);
        Ok(Flow::Next)
    }

    /// Raises for an object that is no context manager of this kind, and says where it is one of the other kind.
    fn lacks_special<T>(&mut self, manager: ValueId, kind: usize, name: &str) -> Traced<T> {
        const KINDS: [(&str, &str, [&str; 2]); 2] = [
            ("context manager protocol", "with", ["__enter__", "__exit__"]),
            ("asynchronous context manager protocol", "async with", ["__aenter__", "__aexit__"]),
        ];
        let class = self.class_of(manager)?;
        let ((own, ..), (other, statement, methods)) = (KINDS[kind], KINDS[1 - kind]);
        let class_name = self.full_name_of_class(manager)?;
        let mut message = format!("'{class_name}' object does not support the {own} (missed {name} method)");
        if methods.iter().all(|method| self.lookup(&class, method).is_some()) {
            message.push_str(&format!(" but it supports the {other}. Did you mean to use '{statement}'?"));
        }
        self.raise("TypeError", message)
    }

    /// `[exit, lasti, previous, exception]` → result of `exit(type, exception, traceback)` on top; from 3.14 on what is called lies
    /// below as calls find it.
    pub(crate) fn with_except_start(&mut self, frame: &mut Frame) -> Traced<Flow> {
        let exception = frame.peek(1)?;
        let class = self.class_of(exception)?.into_any();
        let class = self.constant(class);
        let traceback = self.traceback_of(exception)?;
        let mut args = vec![class, exception, traceback];
        let exit = if frame.code.isa().minor() > 13 {
            args.splice(0..0, frame.peek_entry(4)?);
            frame.peek(5)?
        } else {
            frame.peek(4)?
        };
        let result = self.call(exit, Arguments::positional(args))?;
        frame.push(result);
        Ok(Flow::Next)
    }

    /// `[sub-iterator, last sent, exception]`: a `StopIteration` ends the delegation with its value.
    pub(crate) fn cleanup_throw(&mut self, frame: &mut Frame) -> Traced<Flow> {
        let exception = frame.pop()?;
        let class = self.class_of(exception)?;
        let stop = self.import("builtins", "StopIteration")?;
        if !class.is_subclass(&stop).unwrap_or(false) {
            return Err(Unwind::Raised(exception));
        }
        frame.pop_entry()?;
        frame.pop_iterator()?;
        let value = self.get_attr(exception, "value")?;
        let none = self.none();
        frame.push_iterator(none);
        frame.push(value);
        Ok(Flow::Next)
    }
}
