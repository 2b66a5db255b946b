//! Code objects as bytes: in what they differ from the code that was traced.
use super::bytes::Damaged;
use super::misfit::Misfit;
use super::objects::{In, Out};
use crate::bytecode::{Code, Isa, check_instructions, flag};
use crate::ffi::code::fields;
use crate::names::{interned, name};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

/// What differs, but for the constants.
const FIELDS: [&str; 13] = [
    "co_code",
    "co_names",
    "co_varnames",
    "co_nlocals",
    "co_cellvars",
    "co_freevars",
    "co_linetable",
    "co_exceptiontable",
    "co_stacksize",
    "co_flags",
    "co_argcount",
    "co_posonlyargcount",
    "co_kwonlyargcount",
];

/// No code needs more.
const DEEPEST: u32 = 1 << 16;

/// `CO_FAST_HIDDEN`, `CO_FAST_LOCAL` and `CO_FAST_FREE`.
const HIDDEN: u8 = 0x10;
const LOOKS_FREE: u8 = 0x20 | 0x80;

/// Writes a code object that slotrt has made of the one that was traced.
///
/// # Errors
/// Which constant cannot be written.
pub fn write_code<'py>(code: &Bound<'py, PyAny>, out: &mut Out<'_, 'py>) -> Result<(), Misfit> {
    let (py, traced) = (out.py(), out.traced());
    if !is_called_like(code, &traced)? {
        return Err(Misfit::new("code of another kind than what was traced"));
    }
    for (place, field) in FIELDS.iter().enumerate() {
        let value = code.getattr(interned(py, field))?;
        if !value.eq(traced.getattr(interned(py, field))?)? {
            out.bytes.number(place as u64 + 1);
            out.object(&value)?;
        }
    }
    out.bytes.number(0);
    out.bytes.bytes(&fields::kinds(code)?);
    let constants = code.getattr(name!("co_consts"))?.cast_into::<PyTuple>().map_err(PyErr::from)?;
    out.bytes.number(constants.len() as u64);
    let kept = |Misfit(why)| Misfit(format!("{why}, which the compiled code keeps"));
    constants.iter().try_for_each(|constant| out.object(&constant).map_err(kept))
}

/// Reads what [`write_code`] has written.
///
/// # Errors
/// Which constant is not in this process; where the instructions do not fit together.
pub fn read_code<'py>(from: &mut In<'_, 'py>) -> Result<Bound<'py, PyAny>, Misfit> {
    let (py, traced) = (from.py(), from.traced());
    let changes = PyDict::new(py);
    while let Some(place) = from.bytes.index()?.checked_sub(1) {
        let (field, value) = (FIELDS.get(place).ok_or(Damaged)?, from.object()?);
        if *field == "co_code" {
            let bytes = value.cast::<PyBytes>().map_err(|_| Damaged)?.as_bytes();
            check_instructions(bytes, Isa::running()).map_err(|error| Misfit(error.to_string()))?;
        }
        if *field == "co_stacksize" && value.extract::<u32>()? > DEEPEST {
            return Err(Damaged.into());
        }
        changes.set_item(interned(py, field), value)?;
    }
    let kinds = from.bytes.bytes()?;
    let constants = (0..from.bytes.count()?).map(|_| from.object()).collect::<Result<Vec<_>, _>>()?;
    changes.set_item(name!("co_consts"), PyTuple::new(py, constants)?)?;
    let code = traced.call_method(name!("replace"), (), Some(&changes))?;
    if !is_called_like(&code, &traced)? {
        return Err(Damaged.into());
    }
    let own = fields::kinds(&code)?;
    if own != kinds {
        let fits = |(own, kind): (&u8, &u8)| own ^ kind == HIDDEN || own == kind || *kind == LOOKS_FREE;
        if own.len() != kinds.len() || !own.iter().zip(kinds).all(fits) {
            return Err(Damaged.into());
        }
        fields::set_kinds(&code, kinds)?;
    }
    // Indices of constants, names and variables must fit, and the stack be deep enough: the interpreter does not look.
    Code::decode(&code).map_err(|error| Misfit(error.to_string()))?;
    Ok(code)
}

/// Whether the code takes as many values as what was traced, perhaps without a tuple or a dict for the rest, and is of its kind: the interpreter
/// relies on it.
fn is_called_like(code: &Bound<'_, PyAny>, traced: &Bound<'_, PyAny>) -> PyResult<bool> {
    const REST: i32 = (flag::VARARGS | flag::VARKEYWORDS).cast_signed();
    let parts = |code: &Bound<'_, PyAny>| {
        let [positional, _, keyword, flags, ..] = fields::numbers(code)?;
        PyResult::Ok((positional + keyword + (flags & REST).count_ones().cast_signed(), flags & !REST))
    };
    Ok(parts(code)? == parts(traced)?)
}
