//! Exceptions that C sets by class and value.
use super::world::Stop;
use crate::ffi::types;
use pyo3::exceptions::{PyBaseException, PySystemError};
use pyo3::prelude::*;
use pyo3::types::PyType;

/// CPython: `_PyErr_SetObject`.
pub(super) fn exception(exc: &Bound<'_, PyAny>, value: PyResult<Bound<'_, PyAny>>) -> Stop {
    let made = value.and_then(|value| {
        let base = exc.py().get_type::<PyBaseException>();
        match exc.cast::<PyType>() {
            Ok(class) if types::is_subtype(class, &base) => Ok(PyErr::from_type(class.clone(), (value.unbind(),))),
            _ => {
                let text = format!("_PyErr_SetObject: exception {} is not a BaseException subclass", exc.repr()?);
                Ok(PySystemError::new_err(text))
            }
        }
    });
    Stop::Exception(made.unwrap_or_else(|error| error))
}
