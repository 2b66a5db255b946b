//! Objects of callers that guards compare with by identity: they are held weakly, for guards must not keep alive what the program let
//! go.
use super::load;
use pyo3::prelude::*;
use pyo3::types::{PyModule, PyType, PyWeakrefMethods, PyWeakrefReference};

/// An object of a caller, or where it was; of a function also what it was.
#[derive(Debug)]
pub(super) struct Passing {
    object: Py<PyWeakrefReference>,
    parts: Option<Parts>,
}

type Parts = ([Option<Py<PyAny>>; 3], Vec<(Py<PyAny>, Py<PyAny>)>);

impl Passing {
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
        let parts = load::function_parts(function);
        let values = load::default_values(&parts);
        Some(Self { parts: Some((parts.map(|part| part.map(Bound::unbind)), values)), ..Self::object(function)? })
    }

    /// Whether it is this object.
    pub fn is(&self, value: &Bound<'_, PyAny>) -> bool {
        self.object.bind(value.py()).upgrade().is_some_and(|object| object.is(value))
            && self.parts.as_ref().is_none_or(|(parts, values)| {
                load::same_parts(value, parts) && load::same_defaults(parts, values, value.py())
            })
    }

    /// Shows what it owns to the garbage collector.
    pub fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        visit(self.object.as_any());
        if let Some((parts, values)) = &self.parts {
            parts.iter().flatten().for_each(&mut *visit);
            values.iter().for_each(|(name, value)| {
                visit(name);
                visit(value);
            });
        }
    }
}
