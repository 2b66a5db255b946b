//! Objects that guards compare with by identity. They are held weakly: guards must not keep alive what the program drops.
use pyo3::prelude::*;
use pyo3::types::{PyModule, PyType, PyWeakrefMethods, PyWeakrefReference};

/// An object of the program, or where it was.
#[derive(Debug)]
pub(super) struct CallerObject(Py<PyWeakrefReference>);

impl CallerObject {
    /// `None` where nothing can refer to the object weakly, and for classes and modules: they lead back to themselves, so that only
    /// the collector ends them, whoever holds them.
    pub fn object(object: &Bound<'_, PyAny>) -> Option<Self> {
        if object.is_instance_of::<PyType>() || object.is_instance_of::<PyModule>() {
            return None;
        }
        Self::of(object).ok()
    }

    /// Any object that can be referred to weakly.
    ///
    /// # Errors
    /// Where it cannot.
    pub fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self(PyWeakrefReference::new(object)?.unbind()))
    }

    /// The same once more.
    pub fn clone_ref(&self, py: Python<'_>) -> Self {
        Self(self.0.clone_ref(py))
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

/// An object that is compared with by identity: held weakly where that can be done.
#[derive(Debug)]
pub(super) enum Held {
    Weakly(CallerObject),
    Strongly(Py<PyAny>),
}

impl Held {
    pub fn of(object: &Bound<'_, PyAny>) -> Self {
        CallerObject::object(object).map_or_else(|| Self::Strongly(object.clone().unbind()), Self::Weakly)
    }

    /// Whether it is this object.
    pub fn is(&self, value: &Bound<'_, PyAny>) -> bool {
        match self {
            Self::Weakly(object) => object.is(value),
            Self::Strongly(object) => value.is(object),
        }
    }

    /// Shows what it owns to the garbage collector.
    pub fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        match self {
            Self::Weakly(object) => object.traverse(visit),
            Self::Strongly(object) => visit(object),
        }
    }
}
