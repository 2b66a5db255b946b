//! The project's own functions of Python that stand in graphs of PyTorch, known by their module and name.
use super::named::module_of;
use crate::ffi::callee;
use pyo3::prelude::*;
use pyo3::types::PyFunction;

/// Where they are.
pub(in crate::domain::torch) const MODULE: &str = "slotrt._torch_functions";

/// Gives a tensor the memory of another one.
pub(in crate::domain::torch) const SET_DATA: &str = "set_data";

/// The function that reads the gradient of a leaf.
pub(in crate::domain::torch) const GRADIENT_OF: &str = "gradient_of";

/// The function that takes the gradient from a leaf.
pub(in crate::domain::torch) const CLEAR_GRADIENT: &str = "clear_gradient";

/// The function that tells where the contents of a tensor lie.
pub(in crate::domain::torch) const ADDRESS_OF: &str = "address_of";

/// The function that tells how often a tensor was changed in place.
pub(in crate::domain::torch) const VERSION_OF: &str = "version_of";

/// The function that tells where in its memory a tensor begins.
pub(in crate::domain::torch) const OFFSET_OF: &str = "offset_of";

/// The function that tells where the memory begins in which a tensor lies, and the one that tells how long that is.
pub(in crate::domain::torch) const STORAGE_ADDRESS_OF: &str = "storage_address_of";
pub(in crate::domain::torch) const BYTES_OF: &str = "storage_bytes_of";

/// The functions that are true of a tensor that lies where its memory begins, and of one whose memory is so long.
pub(in crate::domain::torch) const IS_FIRST: &str = "is_first_in_storage";
pub(in crate::domain::torch) const HAS_BYTES: &str = "storage_has_bytes";

/// The function that gives a leaf of the class `Parameter` in the memory of a tensor.
pub(in crate::domain::torch) const PARAMETER_OF: &str = "parameter_of";

/// The functions that give the least and the greatest of tensors.
pub(in crate::domain::torch) const EXTREMES: [&str; 2] = ["least_of", "greatest_of"];

/// The functions that check that a number is false, or true.
pub(in crate::domain::torch) const CHECKS: [&str; 2] = ["check_false", "check_true"];

/// The function that checks what was guessed.
pub(in crate::domain::torch) const CHECK_OF_GUESS: &str = "check_guess";

/// The function that gives tensors as results of the node that hooks of modules are added to.
pub(in crate::domain::torch) const THROUGH: &str = "through_hook";

/// The function that applies a function with gradients of its own which changes arguments.
pub(in crate::domain::torch) const IN_PLACE: &str = "applied_in_place";

/// PyTorch's function that makes an instance of a class of wrappers.
pub(in crate::domain::torch) const MAKES: &str = "_make_wrapper_subclass";

/// Whether it is one of the functions that check.
pub(in crate::domain::torch) fn is_check(callable: &Bound<'_, PyAny>) -> bool {
    CHECKS.iter().chain([&CHECK_OF_GUESS]).any(|name| is_named(callable, name))
}

/// Whether it gives tensors as results of the node that hooks of modules are added to.
pub(in crate::domain::torch) fn is_through_hook(callable: &Bound<'_, PyAny>) -> bool {
    is_named(callable, THROUGH)
}

/// Whether it is the project's function of this name.
pub(in crate::domain::torch) fn is_named(callable: &Bound<'_, PyAny>, name: &str) -> bool {
    callable.is_exact_instance_of::<PyFunction>()
        && callee::name_of(callable) == name
        && module_of(callable).is_some_and(|module| module == MODULE)
}
