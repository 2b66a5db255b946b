//! Objects of callers that guards compare with by identity. They are held weakly: guards must not keep alive what the program drops.
use pyo3::prelude::*;
use pyo3::types::{PyModule, PyType, PyWeakrefMethods, PyWeakrefReference};

/// An object of a caller, or where it was.
#[derive(Debug)]
pub(super) struct CallerObject(Py<PyWeakrefReference>);

impl CallerObject {
    /// `None` where nothing can refer to the object weakly, and for classes and modules: they lead back to themselves, so that only
    /// the collector ends them, whoever holds them.
    pub fn object(object: &Bound<'_, PyAny>) -> Option<Self> {
        if object.is_instance_of::<PyType>() || object.is_instance_of::<PyModule>() {
            return None;
        }
        Some(Self(PyWeakrefReference::new(object).ok()?.unbind()))
    }

    /// Whether it is this object.
    pub fn is(&self, value: &Bound<'_, PyAny>) -> bool {
        self.0.bind(value.py()).upgrade().is_some_and(|object| object.is(value))
    }

    /// The object, if it still lives.
    pub fn object_now<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        self.0.bind(py).upgrade()
    }

    /// Shows what it owns to the garbage collector.
    pub fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        visit(self.0.as_any());
    }
}
