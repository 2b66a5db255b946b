//! A function with other code and all else of the traced one.
use crate::ffi::function;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction};

/// A function like the traced one; continuations have free variables without a closure.
///
/// # Errors
/// Where the code is none for such a function.
pub fn function_like<'py>(code: &Bound<'py, PyAny>, function: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let closure = function.getattr(name!("__closure__"))?;
    if closure.is_none() {
        return function::from_code(code, function);
    }
    let kwargs = PyDict::new(code.py());
    kwargs.set_item("globals", function.getattr(name!("__globals__"))?)?;
    kwargs.set_item("name", function.getattr(name!("__name__"))?)?;
    kwargs.set_item("closure", closure)?;
    let made = code.py().get_type::<PyFunction>().call((code,), Some(&kwargs))?;
    made.setattr(name!("__qualname__"), function.getattr(name!("__qualname__"))?)?;
    Ok(made)
}
