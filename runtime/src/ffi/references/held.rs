//! Objects that are compared with by identity. They are held weakly: who compares must not keep alive what the program drops.
use super::weak_references::WeakObject;
use crate::ffi::types;
use pyo3::prelude::*;
use pyo3::types::{PyModule, PyType};

/// An object that is compared with by identity: held weakly where that can be done.
#[derive(Debug)]
pub enum Held {
    /// As long as others do.
    Weakly(WeakObject),
    /// For good.
    Strongly(Py<PyAny>),
}

impl Held {
    /// Strongly where nothing can refer to it weakly, and what stays anyway: modules, and classes that never change.
    #[must_use]
    pub fn of(object: &Bound<'_, PyAny>) -> Self {
        let weak = if stays(object) { None } else { WeakObject::new(object) };
        weak.map_or_else(|| Self::Strongly(object.clone().unbind()), Self::Weakly)
    }

    /// The same for what the compiled code may be the only one to hold: only some objects are the program's for certain.
    #[must_use]
    pub fn of_constant(object: &Bound<'_, PyAny>) -> Self {
        match is_mortal(object) {
            true => Self::of(object),
            false => Self::Strongly(object.clone().unbind()),
        }
    }

    /// Whether it is this object.
    #[must_use]
    #[inline]
    pub fn is(&self, value: &Bound<'_, PyAny>) -> bool {
        match self {
            Self::Weakly(object) => object.is(value),
            Self::Strongly(object) => value.is(object),
        }
    }

    /// Whether it is the class of a value.
    #[must_use]
    #[inline]
    pub fn is_class_of(&self, value: &Bound<'_, PyAny>) -> bool {
        self.address(value.py()) == Some(value.get_type_ptr() as usize)
    }

    /// The address of the object, if it still lives.
    #[must_use]
    #[inline]
    pub fn address(&self, py: Python<'_>) -> Option<usize> {
        match self {
            Self::Weakly(object) => object.address(py),
            Self::Strongly(object) => Some(object.as_ptr() as usize),
        }
    }

    /// The object, if it still lives.
    #[must_use]
    pub fn object_now<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        match self {
            Self::Weakly(object) => object.get(py),
            Self::Strongly(object) => Some(object.bind(py).clone()),
        }
    }

    /// What is read of the object, if it still lives.
    #[inline]
    pub fn with<'py, T>(&self, py: Python<'py>, read: impl FnOnce(&Bound<'py, PyAny>) -> Option<T>) -> Option<T> {
        match self {
            Self::Weakly(object) => read(&object.get(py)?),
            Self::Strongly(object) => read(object.bind(py)),
        }
    }

    /// Whether it cannot go.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        matches!(self, Self::Strongly(_))
    }

    /// Whether the object is gone.
    #[must_use]
    pub fn is_gone(&self, py: Python<'_>) -> bool {
        self.address(py).is_none()
    }

    /// Whether both hold one object.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Weakly(one), Self::Weakly(other)) => one.same(other),
            (Self::Strongly(one), Self::Strongly(other)) => one.is(other),
            _ => false,
        }
    }

    /// Shows what it owns to the garbage collector.
    pub fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        match self {
            Self::Weakly(object) => visit(object.reference()),
            Self::Strongly(object) => visit(object),
        }
    }
}

/// Whether it stays anyway: a module, or a class that never changes.
#[must_use]
pub fn stays(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyModule>() || object.cast::<PyType>().is_ok_and(types::is_immutable)
}

/// Whether it may end while compiled code stays: a definition of the program, or an instance of a class that a function has made.
#[must_use]
pub fn is_mortal(object: &Bound<'_, PyAny>) -> bool {
    let class = object.get_type();
    is_definition(object) || types::is_local(&class) && types::weaklistoffset(&class) != 0
}

/// Whether it is a class of the program, a function, or what C wraps around one and hands on attributes for: `functools.lru_cache`.
#[must_use]
pub fn is_definition(object: &Bound<'_, PyAny>) -> bool {
    if let Ok(class) = object.cast::<PyType>() {
        return !types::is_immutable(class);
    }
    let class = object.get_type();
    types::is_c_type(&class)
        && types::dictoffset(&class) != 0
        && types::weaklistoffset(&class) != 0
        && object.is_callable()
}
