//! Raises exceptions of C and of the trace, and sets their contexts.
use crate::ffi::{inspect, types};
use crate::names::name;
use crate::trace::proxy::reentry::Interrupted;
use crate::trace::release;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, internal, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::exceptions::PyBufferError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyType;
use rustc_hash::FxHashSet;

impl<'py> Tracer<'py> {
    /// Raises an exception that C raised.
    #[inline(never)]
    pub(crate) fn raise_error<T>(&mut self, error: PyErr) -> Traced<T> {
        if let Some(signal) = self.state.pending.take() {
            return Err(signal);
        }
        if error.is_instance_of::<Interrupted>(self.py) {
            return internal("C code was interrupted without a reason");
        }
        if let Some(number) = self.signal_behind(&error) {
            return Err(self.postpone(number));
        }
        self.refuse_passing(&error)?;
        error.set_traceback(self.py, None);
        let value = error.into_value(self.py).into_bound(self.py).into_any();
        self.chain_links(&value);
        let value = self.absorb(value);
        self.rely_on_names_in(value)?;
        self.raise_value(value)
    }

    /// The name of the value's class with its module, as `%T` in messages of C.
    pub(crate) fn full_name_of_class(&mut self, value: ValueId) -> Traced<String> {
        let class = self.class_of(value)?;
        self.full_name_of(&class)
    }

    /// The name of the class with its module, as `%N` in messages of C.
    pub(crate) fn full_name_of(&mut self, class: &Bound<'py, PyType>) -> Traced<String> {
        self.rely_on_name(class, "__qualname__")?;
        let name = class.fully_qualified_name().or_else(|error| self.raise_error(error))?;
        Ok(name.to_string())
    }

    /// Raises for a special method of `value` that gave what it must not give; `before`: what releases up to 3.14 say.
    pub(crate) fn raise_wrong_result<T>(
        &mut self,
        (value, method): (ValueId, &str),
        wanted: &str,
        result: ValueId,
        before: impl Fn(&str) -> String,
    ) -> Traced<T> {
        let message = if release::NAMES_CLASS_AND_METHOD {
            let (class, result) = (self.full_name_of_class(value)?, self.full_name_of_class(result)?);
            format!("{class}.{method}() must return {wanted}, not {result}")
        } else {
            before(&types::name(&self.class_of(result)?))
        };
        self.raise("TypeError", message)
    }

    /// An exception that tells of more than the trace knows: of objects that may be gone in plain Python, or of frames that C has no
    /// function of Python for.
    fn refuse_passing(&self, error: &PyErr) -> Traced<()> {
        // The trace holds on to all views of memory that it ever made.
        if error.is_instance_of::<PyBufferError>(self.py) && types::text(error.value(self.py)).contains("export") {
            return unsupported("memory that something may still look into", types::text(error.value(self.py)));
        }
        // CPython: `_PyTraceback_Add`.
        let mut entry = error.traceback(self.py).map(Bound::into_any);
        while let Some(here) = entry.filter(|entry| !entry.is_none()) {
            let code = here.getattr(name!("tb_frame")).and_then(|frame| frame.getattr(name!("f_code")));
            let file = code.and_then(|code| code.getattr(name!("co_filename")));
            if file.is_ok_and(|file| types::text(&file).ends_with(".c")) {
                return unsupported("exception that passes through C", "C code adds itself to the traceback");
            }
            entry = here.getattr(name!("tb_next")).ok();
        }
        Ok(())
    }

    /// What C raised on its way to an exception has what the trace handles for its context, too, instead of what the thread handles.
    /// CPython: `_PyErr_SetObject`, each time.
    fn chain_links(&self, raised: &Bound<'py, PyAny>) {
        let handled = self.state.handled().and_then(|handled| self.at_hand(handled));
        let (Some(handled), outer) = (handled, inspect::handled(self.py)) else { return };
        let is_outer = |link: &Bound<'py, PyAny>| outer.as_ref().is_some_and(|outer| link.is(outer));
        let is_known = |link: &Bound<'py, PyAny>| self.state.identity.contains_key(&(link.as_ptr() as usize));
        let is_new =
            |link: &Bound<'py, PyAny>| !link.is_none() && !link.is(&handled) && !is_outer(link) && !is_known(link);
        let new_parts = |link: &Bound<'py, PyAny>| {
            let parts = [name!("__cause__"), name!("__context__")].map(|part| link.getattr(part));
            parts.into_iter().flatten().filter(is_new).collect::<Vec<_>>()
        };
        let mut links = if is_new(raised) { new_parts(raised) } else { Vec::new() };
        let mut seen = FxHashSet::from_iter([raised.as_ptr() as usize]);
        while let Some(link) = links.pop() {
            if !seen.insert(link.as_ptr() as usize) {
                continue;
            }
            links.extend(new_parts(&link));
            if link.getattr(name!("__context__")).is_ok_and(|context| context.is_none() || is_outer(&context)) {
                let _ = link.setattr(name!("__context__"), &handled);
            }
        }
    }

    /// Raises an exception value, chaining `__context__`. CPython: `_PyErr_SetObject`.
    pub(crate) fn raise_value<T>(&mut self, value: ValueId) -> Traced<T> {
        match self.state.handled() {
            Some(handled) => self.chain(value, Some(handled)),
            None => self.rely_on_nothing_handled("what is raised gets it for its context")?,
        }
        Err(Unwind::Raised(value))
    }

    /// What is handled becomes the context of the exception. CPython: `_PyErr_ChainStackItem`.
    pub(crate) fn chain(&self, value: ValueId, handled: Option<ValueId>) {
        if let (Some(handled), Some(object)) = (handled, self.owned(value))
            && handled != value
            && let Some(context) = self.at_hand(handled)
        {
            crate::trace::state::journal::changed();
            self.cut_chain(&context, &object);
            let _ = object.setattr(name!("__context__"), context);
        }
    }

    /// The exception must not be its own context.
    fn cut_chain(&self, first: &Bound<'py, PyAny>, exception: &Bound<'py, PyAny>) {
        let mut link = first.clone();
        for _ in 0..10_000 {
            let Ok(next) = link.getattr(intern!(self.py, "__context__")) else { return };
            if next.is_none() {
                return;
            }
            if next.is(exception) {
                let _ = link.setattr(name!("__context__"), self.py.None());
                return;
            }
            link = next;
        }
    }

    /// Raises an exception of a builtin class with a message.
    #[inline(never)]
    pub(crate) fn raise<T>(&mut self, class: &str, message: impl Into<String>) -> Traced<T> {
        let class = self.import("builtins", class)?;
        let exception = class.call1((message.into(),));
        match exception {
            Ok(exception) => {
                let value = self.own(exception);
                self.rely_on_names_in(value)?;
                self.raise_value(value)
            }
            Err(error) => internal(error.to_string()),
        }
    }
}
