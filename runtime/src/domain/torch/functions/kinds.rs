//! Kinds of functions and classes of PyTorch's, told by what they are called and what they are.
use crate::ffi::{callee, types};
use pyo3::prelude::*;
use pyo3::types::PyType;

/// Questions whose answer is `False` for exact tensors while no mode is active, which the guards watch.
pub(in crate::domain::torch) const OVERRIDES: &[&str] =
    &["_has_torch_function", "_has_torch_function_unary", "_has_torch_function_variadic"];

/// Tells the maker of this PyTorch, once, that something is used: programs do not see it.
pub(in crate::domain::torch) const COUNTED: &str = "_log_api_usage_once";

/// Functions of types of numbers, and of what `Module.to` is given.
pub(in crate::domain::torch) const PLAIN: &[&str] = &["promote_types", "can_cast", "_parse_to"];

/// The class of tuples of sizes.
pub(in crate::domain::torch) const SIZE: &str = "torch.Size";

/// The class of devices.
const DEVICE: &str = "torch.device";

/// Classes whose instances nothing changes, and the methods of sizes. (Those of devices set modes.)
pub(in crate::domain::torch) fn is_plain(callable: &Bound<'_, PyAny>) -> bool {
    const CLASSES: &[&str] = &[DEVICE, "torch.finfo", "torch.iinfo", SIZE];
    match callable.cast::<PyType>() {
        Ok(class) => CLASSES.contains(&&*types::c_name(class)),
        Err(_) => {
            types::is_c_class(&callable.get_type(), "method_descriptor")
                && callee::owner_of(callable).is_some_and(|owner| types::is_c_class(&owner, SIZE))
        }
    }
}

/// Whether it is the class of devices: modes see its calls, and those of no other of these.
pub(in crate::domain::torch) fn is_class_of_devices(callable: &Bound<'_, PyAny>) -> bool {
    callable.cast::<PyType>().is_ok_and(|class| types::is_c_class(class, DEVICE))
}

/// Whether a function of `torch._C` is called as those are that read a setting.
pub(in crate::domain::torch) fn is_question(name: &str) -> bool {
    ["_get_", "get_", "_is_", "is_", "_len_", "_cuda_is"].iter().any(|start| name.starts_with(start))
}
