//! What a generator or coroutine delegates to after a transfer: the generator that continues it, which runs as if it were the first.
use crate::ffi::delegation::{self, Sent};
use crate::names::interned;
use pyo3::exceptions::{PyAttributeError, PyStopIteration};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyString;

/// The rest of a generator. It has neither `throw` nor `close`: C leaves it to the frame that delegates what is thrown into that.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
pub(super) struct Rest(Py<PyAny>);

impl Rest {
    pub(super) fn new(made: Bound<'_, PyAny>) -> Self {
        Self(made.unbind())
    }
}

#[pymethods]
impl Rest {
    fn __iter__(this: Bound<'_, Self>) -> Bound<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.send(py.None().bind(py))
    }

    fn send<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        match delegation::send(self.0.bind(value.py()), value)? {
            Sent::Given(given) => Ok(given),
            Sent::Returned(value) => Err(PyStopIteration::new_err((value.unbind(),))),
        }
    }

    /// Throws an exception into it, for the frame that delegates.
    fn raise_in<'py>(&self, raised: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        delegation::throw(self.0.bind(raised.py()), &interned(raised.py(), "throw"), raised)
    }

    /// What a coroutine awaits is looked at by these.
    fn __getattr__<'py>(&self, name: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyAny>> {
        if name.to_str()?.starts_with("cr_") {
            return self.0.bind(name.py()).getattr(name);
        }
        Err(PyAttributeError::new_err(name.clone().unbind()))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.0)
    }
}
