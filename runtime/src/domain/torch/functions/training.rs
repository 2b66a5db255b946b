//! What steps of training call: optimisers, schedules, what clips gradients. They are part of the graph, each call as a whole, and compute
//! what they compute without a compiler, which has other numbers in them: what a backend compiles ends before, and goes on after.
use super::compilers::{self, asks_for_compiler, kept_out};
use super::replaced::in_table;
use crate::domain::torch::library::Torch;
use crate::domain::torch::named::{is_within, module_of};
use crate::domain::{Domain, OwnFunctions};
use crate::ffi::callee;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyTuple, PyType};

/// Packages and modules of such functions.
const ROOMS: &[&str] = &["torch.optim", "torch.nn.utils.clip_grad"];

/// A module there of neural networks: these are no such functions.
const MODELS: &str = "torch.optim.swa_utils";

/// Beginnings of names of functions there that run natively all the same: they read and replace all that an optimiser keeps, or search,
/// or compare losses.
const NATIVE: &[&str] = &["LBFGS.", "_strong_wolfe", "_cubic_interpolate", "ReduceLROnPlateau."];

/// The function there that asks whether a compiler runs it lest it looks at a device.
const LOOKS_AT_DEVICE: &str = "Optimizer._accelerator_graph_capture_health_check";

/// Names of functions that have others in their place, and the module with the table of these.
const REPLACED: &[&str] = &[ZERO, "_group_tensors_by_device_and_dtype"];
const ZERO: &str = "zero_grad";
const TABLE: &str = "slotrt._torch_training";

/// The rate of learning in a group of parameters.
const RATE: &str = "lr";

/// The function by which programs ask `TorchDynamo` to end its graph.
const ASKS_FOR_BREAK: (&str, &str) = ("torch._dynamo.decorators", "graph_break");

/// The function by which automatic casts look among modes for one of a compiler, and where these are.
const LOOKS_AT_MODES: (&str, &str) = ("torch.overrides", "_get_current_function_mode_stack");
const CASTS: &str = "torch.amp.autocast_mode";

/// What tells TorchDynamo there which sizes are always the same, where PyTorch's own code does.
const MARKS: &str = "mark_static";

/// Whether it is such a function, but for what PyTorch has wrapped it with.
fn is_of_training(function: &Bound<'_, PyAny>) -> bool {
    let Some(module) = module_of(function) else { return false };
    let Some(module) = module.to_str().ok().filter(|module| module.starts_with("torch.")) else { return false };
    module != MODELS && ROOMS.iter().any(|room| is_within(module, room))
}

/// Whether it stands for such a function.
fn is_own(function: &Bound<'_, PyAny>) -> bool {
    module_of(function).is_some_and(|module| module == TABLE)
}

/// Whether a trace goes through the function.
pub(in crate::domain::torch) fn is_in_graph(function: &Bound<'_, PyAny>) -> bool {
    let inner = kept_out(function);
    let function = inner.as_ref().unwrap_or(function);
    let is_native = || {
        let name = callee::qualname_of(function);
        NATIVE.iter().any(|start| name.starts_with(start))
    };
    is_of_training(function) && !is_native()
}

/// Whether modes see more of the function than of what is in its place: what gradients it looks at.
pub(in crate::domain::torch) fn asks_less(function: &Bound<'_, PyAny>) -> bool {
    callee::name_of(function) == ZERO && is_of_training(kept_out(function).as_ref().unwrap_or(function))
}

/// What the trace goes through in the place of such a function: one that does the same, or what PyTorch keeps from its compiler.
pub(in crate::domain::torch) fn in_place_of<'py>(function: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let inner = kept_out(function).filter(is_in_graph);
    let function = inner.as_ref().unwrap_or(function);
    let name = callee::name_of(function);
    let replaced = if REPLACED.contains(&&*name) { in_table(function, TABLE) } else { None };
    replaced.or(inner)
}

/// Whether a trace does not stop within the function.
pub(super) fn is_whole(function: &Bound<'_, PyAny>) -> bool {
    is_of_training(function)
}

impl OwnFunctions for Torch {
    fn compiled_from(&self, function: &Bound<'_, PyAny>) -> Option<&'static str> {
        compilers::compiled_from(function)
    }

    fn is_hashed_by_id(&self, class: &Bound<'_, PyType>) -> bool {
        self.claims(class) && self.hashes_by_id(class)
    }

    fn runs_as_recorded(&self, function: &Bound<'_, PyAny>) -> bool {
        is_of_training(function) || is_own(function)
    }

    fn keeps_state(&self, function: &Bound<'_, PyAny>) -> bool {
        is_of_training(function)
    }

    fn is_scheduled(&self, function: &Bound<'_, PyAny>, name: &str) -> bool {
        name == RATE && (is_of_training(function) || is_own(function))
    }

    fn told_of_compiler<'py>(
        &self,
        function: &Bound<'py, PyAny>,
        name: &str,
        caller: Option<&Bound<'py, PyAny>>,
    ) -> Option<Bound<'py, PyAny>> {
        // Such functions are told of no compiler, and ask for no break.
        let py = function.py();
        let is_of_pytorch =
            caller.and_then(module_of).is_some_and(|module| module.to_str().is_ok_and(|name| is_within(name, "torch")));
        let (module, own) = LOOKS_AT_MODES;
        let casts = || caller.and_then(module_of).is_some_and(|module| module == CASTS);
        if name == own && module_of(function)? == module && casts() {
            // What puts new tensors on a device is no compiler.
            let none = self.ambient.function_modes().are_only_devices(py).unwrap_or(false);
            return none.then(|| PyTuple::empty(py).into_any());
        }
        let checks = || caller.is_some_and(compilers::checks_operands);
        let caller = caller.filter(|caller| is_of_training(caller));
        if asks_for_compiler(self.module.bind(py), function, name) {
            let is_told = match caller {
                Some(caller) => callee::qualname_of(caller) == LOOKS_AT_DEVICE,
                None => !checks(),
            };
            return Some(PyBool::new(py, is_told).to_owned().into_any());
        }
        let (module, own) = ASKS_FOR_BREAK;
        if name == MARKS && module_of(function)? == module {
            return is_of_pytorch.then(|| py.None().into_bound(py));
        }
        let asks = caller.is_some() && name == own && module_of(function).is_some_and(|held| held == module);
        asks.then(|| py.None().into_bound(py))
    }
}
