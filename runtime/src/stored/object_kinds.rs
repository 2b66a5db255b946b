//! Kinds of objects on disk, and what tells them apart without running code of the program.
use super::bytes::Writer;
use super::fingerprint::is_plain;
use super::misfit::Misfit;
use crate::ffi::{callee, types};
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyComplex, PyDict, PyEllipsis, PyFloat, PyInt, PyModule, PyString};

pub(super) const KNOWN: u8 = 0;
pub(super) const NONE: u8 = 1;
pub(super) const FALSE: u8 = 2;
pub(super) const TRUE: u8 = 3;
pub(super) const ELLIPSIS: u8 = 4;
pub(super) const NOT_IMPLEMENTED: u8 = 5;
pub(super) const INTEGER: u8 = 6;
pub(super) const LARGE_INTEGER: u8 = 7;
pub(super) const FLOAT: u8 = 8;
pub(super) const COMPLEX: u8 = 9;
pub(super) const TEXT: u8 = 10;
pub(super) const BYTES: u8 = 11;
pub(super) const TUPLE: u8 = 12;
pub(super) const FROZEN_SET: u8 = 13;
pub(super) const REACHED: u8 = 14;
pub(super) const MADE: u8 = 15;
pub(super) const SPECIAL: u8 = 16;
pub(super) const NAMESPACE: u8 = 17;
pub(super) const SLICE: u8 = 18;
pub(super) const RANGE: u8 = 19;
pub(super) const WEAK: u8 = 20;
pub(super) const PLACE: u8 = 21;

/// An object in words, without running code of the program.
pub(super) fn described(object: &Bound<'_, PyAny>) -> String {
    let mut text = format!("an object of {}", types::name(&object.get_type()));
    let name = callee::name_of(object);
    if !name.is_empty() {
        text.push_str(&format!(" with the name {name}"));
    }
    if let Ok(dict) = object.cast_exact::<PyDict>() {
        let keys = dict.iter().filter_map(|(key, _)| Some(key.cast_exact::<PyString>().ok()?.to_string()));
        text.push_str(&format!(" with the keys {}", keys.take(3).collect::<Vec<_>>().join(", ")));
    }
    text
}

/// The module whose namespace a dict is.
pub(super) fn module_of_namespace<'py>(dict: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let name = dict.cast_exact::<PyDict>().ok()?.get_item(name!("__name__")).ok()??.cast_into::<PyString>().ok()?;
    let module = crate::ffi::modules::imported(&name)?;
    let namespace = module.cast::<PyModule>().ok()?.dict();
    namespace.is(dict).then_some(module)
}

/// Writes a constant; `false`, and nothing is written: the object is none.
pub(super) fn write_plain(object: &Bound<'_, PyAny>, out: &mut Writer) -> Result<bool, Misfit> {
    if !is_plain(object) {
        return Ok(false);
    }
    let mut tag = |tag: u8| out.0.push(tag);
    if object.is_none() {
        tag(NONE);
    } else if let Ok(truth) = object.cast_exact::<PyBool>() {
        tag(if truth.is_true() { TRUE } else { FALSE });
    } else if object.is_exact_instance_of::<PyEllipsis>() {
        tag(ELLIPSIS);
    } else if let Ok(number) = object.cast_exact::<PyInt>() {
        match number.extract::<i64>() {
            Ok(small) => {
                tag(INTEGER);
                out.signed(small);
            }
            Err(_) => {
                tag(LARGE_INTEGER);
                out.text(&number.call_method1(name!("__format__"), ("x",))?.extract::<String>()?);
            }
        }
    } else if let Ok(number) = object.cast_exact::<PyFloat>() {
        if number.value().is_nan() {
            return Err(Misfit::new("a nan, which is itself alone"));
        }
        tag(FLOAT);
        out.word(number.value().to_bits());
    } else if let Ok(number) = object.cast_exact::<PyComplex>() {
        tag(COMPLEX);
        out.word(number.real().to_bits());
        out.word(number.imag().to_bits());
    } else if let Ok(text) = object.cast_exact::<PyString>() {
        tag(TEXT);
        let encoded = text.call_method1(name!("encode"), ("utf-8", "surrogatepass"))?;
        out.bytes(encoded.cast::<PyBytes>().map_err(PyErr::from)?.as_bytes());
    } else if let Ok(bytes) = object.cast_exact::<PyBytes>() {
        tag(BYTES);
        out.bytes(bytes.as_bytes());
    } else {
        tag(NOT_IMPLEMENTED);
    }
    Ok(true)
}
