//! Kinds of functions and classes of PyTorch's, told by what they are called and what they are.
use crate::ffi::{callee, inspect, types};
use crate::names::{interned, name};
use pyo3::prelude::*;
use pyo3::types::{PyFunction, PyType};
use std::borrow::Cow;

/// Questions whose answer is `False` for exact tensors while no mode is active, which the guards watch.
pub(in crate::domain::torch) const OVERRIDES: &[&str] =
    &["_has_torch_function", "_has_torch_function_unary", "_has_torch_function_variadic"];

/// Tells the maker of this PyTorch, once, that something is used: programs do not see it.
pub(in crate::domain::torch) const COUNTED: &str = "_log_api_usage_once";

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
    types::name(&callable.get_type()).ends_with("ScriptFunction")
        && crate::ffi::modules::import(callable.py(), "torch")
            .and_then(|torch| torch.getattr(name!("jit"))?.getattr(name!("ScriptFunction")))
            .is_ok_and(|class| callable.get_type().is(&class))
}

/// The class of all overloads of an operator, and that of one.
pub(super) const OPERATORS: [&str; 2] = ["OpOverloadPacket", "OpOverload"];

/// Libraries of operators that no program registers.
const OWN: &[&str] = &["aten", "prims", "prim", "quantized", "sparse", "mkldnn"];

/// Whether an operator is in a library that programs register.
pub(super) fn is_registered(operator: &Bound<'_, PyAny>) -> bool {
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
        _ => OPERATORS.contains(&&*types::name(&class)) && is_registered(function),
    };
    if is_of_program { Cow::Borrowed("") } else { callee::name_of(function) }
}

/// Functions of types of numbers.
pub(in crate::domain::torch) const PLAIN: &[&str] = &["promote_types", "can_cast"];

/// The class of tuples of sizes.
pub(in crate::domain::torch) const SIZE: &str = "torch.Size";

/// Classes whose instances nothing changes, and the methods of sizes. (Those of devices set modes.)
pub(in crate::domain::torch) fn is_plain(callable: &Bound<'_, PyAny>) -> bool {
    const CLASSES: &[&str] = &["torch.device", "torch.finfo", "torch.iinfo", SIZE];
    match callable.cast::<PyType>() {
        Ok(class) => CLASSES.contains(&&*types::c_name(class)),
        Err(_) => {
            types::c_name(&callable.get_type()) == "method_descriptor"
                && callee::owner_of(callable).is_some_and(|owner| types::c_name(&owner) == SIZE)
        }
    }
}

/// Whether a function of `torch._C` is called as those are that read a setting.
pub(in crate::domain::torch) fn is_question(name: &str) -> bool {
    ["_get_", "get_", "_is_", "is_", "_len_", "_cuda_is"].iter().any(|start| name.starts_with(start))
}
