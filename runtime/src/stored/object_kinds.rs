//! Kinds of objects on disk, and what tells them apart without running code of the program.
use crate::ffi::{callee, types};
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyModule, PyString};

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
