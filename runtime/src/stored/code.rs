//! Code objects as bytes: what the interpreter's own form says of them, but for their constants, which are objects of the program.
use super::bytes::Damaged;
use super::misfit::Misfit;
use super::objects::{In, Out};
use crate::bytecode::Code;
use crate::ffi::code::fields;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCode, PyDict, PyTuple};

/// Writes a code object that slotrt has made.
///
/// # Errors
/// Which constant cannot be written.
pub fn write_code<'py>(code: &Bound<'py, PyAny>, out: &mut Out<'_, 'py>) -> Result<(), Misfit> {
    let py = out.py();
    let constants = code.getattr(name!("co_consts"))?.cast_into::<PyTuple>().map_err(PyErr::from)?;
    let bare = with_constants(code, &PyTuple::new(py, constants.iter().map(|_| py.None()))?)?;
    let bytes = crate::ffi::modules::import(py, "marshal")?.call_method1(name!("dumps"), (bare,))?;
    out.bytes.bytes(bytes.cast::<PyBytes>().map_err(PyErr::from)?.as_bytes());
    out.bytes.number(constants.len() as u64);
    let kept = |Misfit(why)| Misfit(format!("{why}, which the compiled code keeps"));
    constants.iter().try_for_each(|constant| out.object(&constant).map_err(kept))
}

/// Reads what [`write_code`] has written. The bytes have been checked before.
///
/// # Errors
/// Which constant is not in this process.
pub fn read_code<'py>(from: &mut In<'_, 'py>) -> Result<Bound<'py, PyAny>, Misfit> {
    let py = from.py();
    let bytes = PyBytes::new(py, from.bytes.bytes()?);
    let constants = (0..from.bytes.count()?).map(|_| from.object()).collect::<Result<Vec<_>, _>>()?;
    let bare = crate::ffi::modules::import(py, "marshal")?.call_method1(name!("loads"), (bytes,))?;
    if !bare.is_instance_of::<PyCode>() {
        return Err(Damaged.into());
    }
    let code = with_constants(&bare, &PyTuple::new(py, constants)?)?;
    // Indices of constants, names and variables must fit: the interpreter does not look.
    Code::read(&code).map_err(|error| Misfit(error.to_string()))?;
    Ok(code)
}

/// The same code with other constants.
fn with_constants<'py>(code: &Bound<'py, PyAny>, constants: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
    let changes = PyDict::new(code.py());
    changes.set_item(name!("co_consts"), constants)?;
    let made = code.call_method(name!("replace"), (), Some(&changes))?;
    let kinds = fields::kinds(code)?;
    if fields::kinds(&made)? != kinds {
        fields::set_kinds(&made, &kinds)?;
    }
    Ok(made)
}
