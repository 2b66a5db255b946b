//! Weak references of C: what they refer to.
use crate::ffi::types;
use pyo3::exceptions::PyReferenceError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyType, PyWeakref, PyWeakrefMethods, PyWeakrefReference};

/// What a weak reference refers to; no method of a derived class is asked. `None`: to nothing any more, or it is none.
#[must_use]
pub fn referent<'py>(reference: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    reference.cast::<PyWeakref>().ok()?.upgrade()
}

/// The same. Called by compiled code.
///
/// # Errors
/// Where it refers to nothing any more.
#[pyfunction]
pub fn follow<'py>(reference: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    referent(reference).ok_or_else(|| PyReferenceError::new_err("weakly-referenced object no longer exists"))
}

/// The plain weak reference to an object, which all share that ask for one. Called by compiled code.
///
/// # Errors
/// Where the object has none.
#[pyfunction]
pub fn refer<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    PyWeakrefReference::new(object).map(Bound::into_any)
}

unsafe extern "C" {
    fn _PyWeakref_ClearRef(reference: *mut ffi::PyObject);
}

/// Ends the plain weak reference to a class, by which its bases know it: no `__subclasses__()` finds it any more.
pub fn leave_bases(class: &Bound<'_, PyType>) {
    let Some(WeakObject(reference)) = WeakObject::new(class) else { return };
    // SAFETY: attached; `WeakObject` has looked at the exact type, and holds the reference. C does the same before a class ends.
    unsafe { _PyWeakref_ClearRef(reference.as_ptr()) };
}

/// An object that is held weakly, and told from others without a call.
#[derive(Debug)]
pub struct WeakObject(Py<PyWeakrefReference>);

impl WeakObject {
    /// `None` where nothing can refer to it weakly.
    #[must_use]
    pub fn new(object: &Bound<'_, PyAny>) -> Option<Self> {
        // Else the interpreter would make an error of it.
        if types::weaklistoffset(&object.get_type()) == 0 {
            return None;
        }
        // SAFETY: the object is live; the result is a new reference, or NULL with an exception set.
        let made = unsafe {
            Bound::from_owned_ptr_or_err(object.py(), ffi::PyWeakref_NewRef(object.as_ptr(), std::ptr::null_mut()))
        };
        made.ok()?.cast_into_exact().ok().map(|made| Self(made.unbind()))
    }

    /// Whether it is this object.
    #[must_use]
    #[inline]
    pub fn is(&self, value: &Bound<'_, PyAny>) -> bool {
        // Nothing refers to `None` weakly.
        self.place(value.py()) == value.as_ptr() && !value.is_none()
    }

    /// Where the object lies: `None` itself once it is gone.
    #[inline]
    fn place(&self, _py: Python<'_>) -> *mut ffi::PyObject {
        // SAFETY: attached; the exact type was looked at, and the reference is live.
        unsafe { (*self.0.as_ptr().cast::<ffi::PyWeakReference>()).wr_object }
    }

    /// The address of the object, if it still lives.
    #[must_use]
    #[inline]
    pub fn address(&self, py: Python<'_>) -> Option<usize> {
        Some(self.place(py)).filter(|place| *place != py.None().as_ptr()).map(|place| place as usize)
    }

    /// The object, if it still lives.
    #[must_use]
    pub fn get<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        self.0.bind(py).upgrade()
    }

    /// The same once more.
    #[must_use]
    pub fn clone_ref(&self, py: Python<'_>) -> Self {
        Self(self.0.clone_ref(py))
    }

    /// Whether both are one reference: then they refer to one object, also when it is gone.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        self.0.is(&other.0)
    }

    /// The reference itself.
    #[must_use]
    pub fn reference(&self) -> &Py<PyAny> {
        self.0.as_any()
    }
}
