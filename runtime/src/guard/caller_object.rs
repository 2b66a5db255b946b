//! Objects of callers that guards compare with by identity. They are held weakly: guards must not keep alive what the program drops.
use super::values;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyModule, PyTuple, PyType, PyWeakrefMethods, PyWeakrefReference};

/// An object of a caller, or where it was; of a function also what it was.
#[derive(Debug)]
pub(super) struct CallerObject {
    object: Py<PyWeakrefReference>,
    parts: Option<Parts>,
}

/// What a function must keep for its arguments to be bound as they were; the defaults have guards of their own, where they are used.
#[derive(Debug)]
struct Parts {
    code: Option<Py<PyAny>>,
    defaults: Option<usize>,
    /// Names of keyword defaults.
    keywords: Option<Py<PyTuple>>,
}

impl Parts {
    fn of(function: &Bound<'_, PyAny>) -> Self {
        let [code, defaults, keywords] = values::function_parts(function);
        let keywords = keywords.and_then(|keywords| Some(keywords.cast::<PyDict>().ok()?.keys().to_tuple().unbind()));
        Self { code: code.map(Bound::unbind), defaults: defaults.as_ref().and_then(values::length), keywords }
    }

    fn are_of(&self, function: &Bound<'_, PyAny>) -> bool {
        let [code, defaults, keywords] = values::function_parts(function);
        let same_code = match (&code, &self.code) {
            (Some(now), Some(then)) => now.is(then),
            (now, then) => now.is_none() && then.is_none(),
        };
        let same_names = match (&keywords, &self.keywords) {
            (Some(now), Some(then)) => values::has_keys(now, then.bind(now.py()).as_any()),
            (now, then) => now.is_none() && then.is_none(),
        };
        same_code && same_names && defaults.as_ref().and_then(values::length) == self.defaults
    }
}

impl CallerObject {
    /// `None` where nothing can refer to the object weakly, and for classes and modules: they lead back to themselves, so that only
    /// the collector ends them, whoever holds them.
    pub fn object(object: &Bound<'_, PyAny>) -> Option<Self> {
        if object.is_instance_of::<PyType>() || object.is_instance_of::<PyModule>() {
            return None;
        }
        Some(Self { object: PyWeakrefReference::new(object).ok()?.unbind(), parts: None })
    }

    /// The same for a function that must stay as it is.
    pub fn function(function: &Bound<'_, PyAny>) -> Option<Self> {
        Some(Self { parts: Some(Parts::of(function)), ..Self::object(function)? })
    }

    /// Whether it is this object.
    pub fn is(&self, value: &Bound<'_, PyAny>) -> bool {
        self.object.bind(value.py()).upgrade().is_some_and(|object| object.is(value))
            && self.parts.as_ref().is_none_or(|parts| parts.are_of(value))
    }

    /// Shows what it owns to the garbage collector.
    pub fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        visit(self.object.as_any());
        if let Some(parts) = &self.parts {
            parts.code.iter().for_each(&mut *visit);
            parts.keywords.iter().for_each(|names| visit(names.as_any()));
        }
    }
}
