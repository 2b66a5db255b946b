//! Functions of Python that tell of devices: `torch.cuda.is_available()`, `torch.get_default_device()`.
use crate::domain::torch::graph_break::{CallResult, stop};
use crate::domain::torch::named::module_of;
use crate::domain::{Answer, Operand};
use crate::ffi::callee;
use pyo3::prelude::*;
use pyo3::types::PyFunction;

/// The modules that have them.
const MODULES: &[&str] = &["torch", "torch.cuda", "torch.xpu", "torch.mps", "torch.mtia", "torch.accelerator"];

/// Their questions: what they do beside the answer, to begin to use the device, any use of it does.
const QUESTIONS: &[&str] = &[
    "current_accelerator",
    "current_device",
    "current_device_index",
    "device_count",
    "get_arch_list",
    "get_default_device",
    "get_device_capability",
    "get_device_name",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
];

/// Whether it is such a function.
pub(in crate::domain::torch) fn asks_for_device(callable: &Bound<'_, PyAny>) -> bool {
    callable.is_exact_instance_of::<PyFunction>()
        && QUESTIONS.contains(&&*callee::name_of(callable))
        && module_of(callable).is_some_and(|module| MODULES.iter().any(|known| module == *known))
}

/// The answer, which a guard asks for again.
pub(in crate::domain::torch) fn answer<'py>(
    function: &Bound<'py, PyAny>,
    args: &[Operand<'py>],
    kwargs: &[(String, Operand<'py>)],
) -> CallResult<'py> {
    let known = |arg: &Operand<'py>| match arg {
        Operand::Known(object) => Some(object.clone()),
        _ => None,
    };
    match args.iter().map(known).collect::<Option<Vec<_>>>() {
        Some(args) if kwargs.is_empty() => Ok(Answer::Guarded(function.clone(), args)),
        _ => Err(stop("unsupported form of a PyTorch call", callee::name_of(function), "It asks about a device.")),
    }
}
