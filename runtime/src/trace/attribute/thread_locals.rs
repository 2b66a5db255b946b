//! Attributes of thread-local data from outside: entries of the dict that it has for the running thread. CPython: `local_getattro`.
use crate::ffi::{thread_locals, types};
use crate::guard::source::Source;
use crate::names::interned;
use crate::trace::attribute::descriptors::{has_get, is_data_descriptor};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::sync::Arc;

impl<'py> Tracer<'py> {
    /// The dict of such an object; `None`: the object is another, or of the trace's own.
    fn thread_dict(&mut self, object: ValueId) -> Traced<Option<(ValueId, Bound<'py, PyType>)>> {
        let (Some(real), Some(source)) = (self.real(object), self.source(object)) else { return Ok(None) };
        let class = real.get_type();
        let Some(base) = thread_locals::base(&class) else { return Ok(None) };
        self.class_of(object)?;
        self.rely_on_class(&class);
        let Some(dict) = thread_locals::dict(&real) else {
            return unsupported("thread-local data that the thread has not got yet", types::name(&class));
        };
        let dict = self.sourced(dict.into_any(), Source::ThreadDict(Arc::new(source)));
        self.class_of(dict)?;
        Ok(Some((dict, base)))
    }

    fn entry(&mut self, dict: ValueId, name: &str) -> Traced<Option<ValueId>> {
        let name = self.constant(interned(self.py, name).into_any());
        let found = self.native_operator("contains", &[dict, name])?;
        match self.is_true(found)? {
            true => self.native_operator("getitem", &[dict, name]).map(Some),
            false => Ok(None),
        }
    }

    /// `tp_getattro` of thread-local data; `None`: the object is another.
    pub(crate) fn thread_local_attr(&mut self, object: ValueId, name: &str) -> Traced<Option<ValueId>> {
        let Some((dict, base)) = self.thread_dict(object)? else { return Ok(None) };
        if name == "__dict__" {
            return Ok(Some(dict));
        }
        let class = self.class_of(object)?;
        let found = self.lookup(&class, name);
        if let Some(found) = found.as_ref().filter(|found| is_data_descriptor(found) && has_get(found)) {
            // The class of C itself asks the dict first.
            return match class.is(&base) {
                true => unsupported("descriptor of thread-local data", name),
                false => self.read_descriptor(found.clone(), object, &class, name).map(Some),
            };
        }
        if let Some(value) = self.entry(dict, name)? {
            return Ok(Some(value));
        }
        match found {
            Some(found) => {
                let found = self.absorb_static(found);
                self.bind(found, object, &class).map(Some)
            }
            None => self.raise_missing_attribute(object, &class, name),
        }
    }

    /// `tp_setattro` of thread-local data; `false`: the object is another.
    pub(crate) fn set_thread_local(&mut self, object: ValueId, name: &str, value: Option<ValueId>) -> Traced<bool> {
        let Some((dict, _)) = self.thread_dict(object)? else { return Ok(false) };
        let class = self.class_of(object)?;
        if name == "__dict__" || self.lookup(&class, name).is_some_and(|found| is_data_descriptor(&found)) {
            return unsupported("descriptor of thread-local data", name);
        }
        let held = self.entry(dict, name)?;
        let key = self.constant(interned(self.py, name).into_any());
        match (value, held) {
            (Some(value), _) => self.native_operator("setitem", &[dict, key, value])?,
            (None, Some(_)) => self.native_operator("delitem", &[dict, key])?,
            (None, None) => return unsupported("attribute of thread-local data that it has not got is deleted", name),
        };
        Ok(true)
    }

    /// The same, where the methods of the class of C are called; `None`: it is another call.
    pub(crate) fn thread_local_method(
        &mut self,
        owner: &Bound<'py, PyType>,
        method: &str,
        args: &[ValueId],
    ) -> Traced<Option<ValueId>> {
        let [object, name, rest @ ..] = args else { return Ok(None) };
        if !types::is_named(owner, "_thread._local") {
            return Ok(None);
        }
        let Some(name) = self.known_str(*name) else { return Ok(None) };
        match (method, rest) {
            ("__getattribute__", []) => self.thread_local_attr(*object, &name),
            ("__setattr__", [value]) => {
                let done = self.set_thread_local(*object, &name, Some(*value))?;
                Ok(done.then(|| self.none()))
            }
            ("__delattr__", []) => {
                let done = self.set_thread_local(*object, &name, None)?;
                Ok(done.then(|| self.none()))
            }
            _ => Ok(None),
        }
    }
}
