//! What C goes through.
use crate::ffi::{callee, types};
use pyo3::prelude::*;
use pyo3::types::PyType;

/// Whether this class or function of `builtins`, or method of a container, goes through this one of so many arguments, and does nothing else
/// with it.
pub(crate) fn goes_through(callable: &Bound<'_, PyAny>, index: usize, count: usize) -> bool {
    let by = match callable.cast::<PyType>() {
        Ok(class) => types::c_name(class).into_owned(),
        Err(_) => callee::name_of(callable).into_owned(),
    };
    match &*by {
        "list" | "tuple" | "enumerate" | "sorted" | "sum" | "any" | "all" => index == 0,
        "zip" => true,
        "map" | "filter" | "extend" => index > 0,
        "min" | "max" => count == 1,
        _ => false,
    }
}
