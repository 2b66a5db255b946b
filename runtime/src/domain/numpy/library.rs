//! The numpy that the program has imported.
use super::errors::Errors;
use super::names::{Functions, is_new};
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::sync::Arc;

/// The numpy that the program has imported.
#[derive(Debug)]
pub struct Numpy {
    pub(super) module: Py<PyModule>,
    pub(super) functions: Functions,
    pub(super) ndarray: Py<PyType>,
    pub(super) generic: Py<PyType>,
    pub(super) ufunc: Py<PyType>,
    pub(super) operator: Py<PyModule>,
    pub(super) errors: Arc<Errors>,
}

impl Numpy {
    /// Whether objects of this exact class are values of the graph.
    pub(super) fn claims_class(&self, class: &Bound<'_, PyType>) -> bool {
        class.is(&self.ndarray) || self.is_scalar_class(class)
    }

    /// Scalar types of numpy itself; subclasses by users are left alone.
    fn is_scalar_class(&self, class: &Bound<'_, PyType>) -> bool {
        let generic = self.generic.bind(class.py());
        crate::ffi::types::is_subtype(class, generic) && !crate::ffi::types::is_heap(class)
    }

    /// Whether what a graph calls gives arrays with memory of their own.
    pub(super) fn makes_new_arrays(&self, target: &Bound<'_, PyAny>) -> bool {
        target.get_type().is(&self.ufunc) || is_new(&crate::ffi::callee::name_of(target))
    }

    /// Whether the object is a value of the graph.
    pub(super) fn is_value(&self, object: &Bound<'_, PyAny>) -> bool {
        self.claims_class(&object.get_type())
    }
}
