//! The error of an object that cannot be called. CPython: `object_is_not_callable`.
use crate::ffi::types;
use crate::trace::release;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyModule, PyString, PyType};

impl<'py> Tracer<'py> {
    /// Raises it; the name of what a module of that name has, and was meant, is part of it.
    pub(super) fn raise_not_callable<T>(&mut self, object: ValueId, class: &Bound<'py, PyType>) -> Traced<T> {
        let mut message = format!("'{}' object is not callable", types::name(class));
        if release::MODULES_NAME_WHAT_IS_MEANT
            && class.is(self.py.get_type::<PyModule>())
            && let Some(name) = self.callable_of_module(object)?
        {
            message.push_str(&format!(". Did you mean: '{name}.{name}(...)'?"));
        }
        self.raise("TypeError", message)
    }

    /// The name of a module, if what it has under its own name can be called.
    fn callable_of_module(&mut self, module: ValueId) -> Traced<Option<String>> {
        let Some(name) = self.own_attr(module, "__name__")? else { return Ok(None) };
        let Some(name) = self.known(name) else { return unsupported("call of a module", "with a name of its own") };
        let Ok(name) = name.cast::<PyString>().map(types::text) else { return Ok(None) };
        let found = match self.optional_attr(module, &name) {
            Err(Unwind::Raised(_)) => None,
            found => found?,
        };
        let Some(found) = found else { return Ok(None) };
        let callable = self.model_callable(found)?;
        Ok(self.is_true(callable)?.then_some(name))
    }
}
