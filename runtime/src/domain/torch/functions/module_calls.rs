//! Calls of modules of neural networks, and how the program names these.
use crate::domain::torch::named::module_of;
use crate::ffi::callee;
use crate::names::name;
use pyo3::prelude::*;

/// The function that all calls of modules go through.
const CALL: (&str, &str) = ("torch.nn.modules.module", "Module._call_impl");

/// Whether the function calls the module that is its first argument.
pub(in crate::domain::torch) fn calls_module(function: &Bound<'_, PyAny>) -> bool {
    callee::qualname_of(function) == CALL.1 && module_of(function).is_some_and(|module| module == CALL.0)
}

/// The name of a module below the one that calls it, which has this path; `None`: it is none of its modules.
pub(in crate::domain::torch) fn path_below(
    outer: &Bound<'_, PyAny>,
    path: &str,
    module: &Bound<'_, PyAny>,
) -> Option<String> {
    for named in outer.call_method0(name!("named_modules")).ok()?.try_iter().ok()? {
        let (name, known): (String, Bound<'_, PyAny>) = named.ok()?.extract().ok()?;
        if known.is(module) {
            return Some(if name.is_empty() { path.to_owned() } else { format!("{path}.{name}") });
        }
    }
    None
}
