//! What functions are called by, and whose they are.
use crate::ffi::{callee, inspect, types};
use crate::names::{interned, name};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction, PyString, PyType};
use std::borrow::Cow;

/// The name of the module whose globals the function has.
pub(in crate::domain::torch) fn module_of<'py>(function: &Bound<'py, PyAny>) -> Option<Bound<'py, PyString>> {
    let globals = inspect::globals(function)?.cast_into::<PyDict>().ok()?;
    globals.get_item(name!("__name__")).ok()??.cast_into().ok()
}

/// Whether a module is a package or within it.
pub(in crate::domain::torch) fn is_within(module: &str, package: &str) -> bool {
    module.strip_prefix(package).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The attribute of a function that the program says is to be a node.
const ALLOWED: &str = "_slotrt_allowed_in_graph";

/// Whether calls of the function are nodes, though it is the program's: the program says so, or PyTorch has compiled it.
pub(in crate::domain::torch) fn is_allowed(callable: &Bound<'_, PyAny>) -> bool {
    match callable.is_exact_instance_of::<PyFunction>() {
        true => inspect::own_attribute(callable, &interned(callable.py(), ALLOWED)).is_some(),
        false => is_script(callable),
    }
}

/// Whether it is a function that `torch.jit.script` has made.
pub(in crate::domain::torch) fn is_script(callable: &Bound<'_, PyAny>) -> bool {
    types::last_name(&callable.get_type()) == "ScriptFunction"
        && crate::ffi::modules::import(callable.py(), "torch")
            .and_then(|torch| torch.getattr(name!("jit"))?.getattr(name!("ScriptFunction")))
            .is_ok_and(|class| callable.get_type().is(&class))
}

/// The class of all overloads of an operator, and that of one.
pub(in crate::domain::torch) const OPERATORS: [&str; 2] = ["OpOverloadPacket", "OpOverload"];

/// Whether a class is called as these are.
pub(in crate::domain::torch) fn is_named_operator(class: &Bound<'_, PyType>) -> bool {
    OPERATORS.iter().any(|name| types::is_called(class, name))
}

/// Libraries of operators that no program registers.
const OWN: &[&str] = &["aten", "prims", "prim", "quantized", "sparse", "mkldnn"];

/// Whether an operator is in a library that programs register.
pub(in crate::domain::torch) fn is_registered(operator: &Bound<'_, PyAny>) -> bool {
    let library = || {
        let packet = operator.getattr_opt(name!("_overloadpacket"))?.unwrap_or_else(|| operator.clone());
        packet.getattr(name!("_qualified_op_name"))?.extract::<String>()
    };
    !library().is_ok_and(|name| OWN.iter().any(|own| name.split("::").next() == Some(own)))
}

/// What a function of PyTorch's is called by: empty for one of the program's, which may have any name.
pub(in crate::domain::torch) fn own_name<'a>(function: &'a Bound<'_, PyAny>) -> Cow<'a, str> {
    let class = function.get_type();
    let is_of_program = match &*types::c_name(&class) {
        "builtin_function_or_method" | "method_descriptor" => false,
        "function" => is_allowed(function),
        _ if is_script(function) => true,
        _ => is_named_operator(&class) && is_registered(function),
    };
    if is_of_program { Cow::Borrowed("") } else { callee::name_of(function) }
}
