//! Classes of PyTorch's whose instances nothing changes: what is asked of known ones is known.
use crate::ffi::{callee, types};
use pyo3::prelude::*;
use pyo3::types::PyType;

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
