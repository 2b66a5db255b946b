//! Functions of PyTorch's, and some that copy its objects, that a trace does not stop within: all of a call is in the graph, or it runs
//! natively as a whole; and functions that do the same as one of them. Stopped within, they give a break for each of many steps that nobody waits for.
use super::compilers::kept_out;
use super::replaced::in_table;
use crate::domain::torch::named::module_of;
use crate::ffi::callee;
use crate::names::name;
use pyo3::prelude::*;

/// A package or module, and beginnings of the qualified names of such functions there; nothing: all of them.
const WHOLES: &[(&str, &[&str])] = &[
    ("copy", &["deepcopy", "copy"]),
    ("dataclasses", &["asdict", "astuple", "dataclass", "make_dataclass"]),
    (HOOKS, &[]),
    (COMPILED, &["_compile", "_Compiler."]),
    (OPERATORS, &["_hop_compile_and_call"]),
    ("torch._tensor", &["Tensor.__format__", "Tensor.__repr__", "Tensor.__deepcopy__", "Tensor.__reduce_ex__"]),
    (PROFILER, &["record_function."]),
    ("torch.ao.quantization", &[]),
    ("torch.distributions", &[]),
    ("torch.masked", &[]),
    ("torch.nn.modules.lazy", &["LazyModuleMixin."]),
    (
        MODULE,
        &["Module.__setattr__", "Module._apply", "Module.register_", "Module.requires_grad_", "Module.state_dict"],
    ),
    (MODULE, &["Module.load_state_dict"]),
    ("torch.nn.init", &["orthogonal_", "trunc_normal_"]),
    ("torch.nn.modules.adaptive", &["AdaptiveLogSoftmaxWithLoss.forward"]),
    ("torch.nn.modules.rnn", &[]),
    ("torch.nn.parameter", &[]),
    ("torch._weights_only_unpickler", &[]),
    ("torch.storage", &["_load_from_bytes"]),
    ("torch.serialization", &[]),
    ("torch.nn.utils.weight_norm", &["WeightNorm.apply", "remove_weight_norm", "weight_norm"]),
    ("torch.nn.utils.parametrizations", &["orthogonal", "spectral_norm", "weight_norm"]),
    ("torch.nn.utils.parametrize", &["register_parametrization", "remove_parametrizations"]),
    ("torch.nn.utils.rnn", &[]),
    ("torch.optim.swa_utils", &["AveragedModel.update_parameters", "update_bn"]),
    ("torch.utils", &["swap_tensors"]),
    ("torch.utils.flop_counter", &[]),
    ("torch.utils.module_tracker", &[]),
    ("torch.utils.data", &[]),
    ("torch.utils.weak", &["WeakIdKeyDictionary."]),
];

const MODULE: &str = "torch.nn.modules.module";

/// Where operators that take functions are compiled and called, if no compiler runs.
const OPERATORS: &str = "torch._higher_order_ops.utils";

/// What adds hooks to modules within a trace.
const HOOKS: &str = "slotrt._torch_hooks";

/// Where PyTorch's hooks are, and what hooks gradients of modules.
const HOOKS_OF_ALL: &str = "torch.utils.hooks";
const HOOKED: &str = "BackwardHook._apply_on_tensors";

/// What stands for what `torch.compile` makes within a trace.
const COMPILED: &str = "slotrt._torch_compiled";

/// Where PyTorch's modules of neural networks are; what makes one of them is such a function.
const MODULES: &str = "torch.nn.modules.";

/// The module of the annotations that a profiler shows.
const PROFILER: &str = "torch.autograd.profiler";

/// Modules of PyTorch's, beginnings of the qualified names of functions there, and the modules with tables of what does the same: annotations,
/// where nothing records them; modes, by functions that a graph calls; what makes classes of functions with gradients.
const REPLACED: &[(&str, &str, &str)] = &[
    (PROFILER, "record_function.__", "slotrt._torch_annotations"),
    ("torch", "compile", COMPILED),
    (OPERATORS, "_hop_compile_and_call", "slotrt._torch_functions"),
    ("torch.autograd.function", "FunctionMeta.__init__", "slotrt._torch_functions"),
    ("torch.autograd.grad_mode", "inference_mode.__e", "slotrt._torch_modes"),
    ("torch.random", "manual_seed", "slotrt._torch_functions"),
    ("torch.utils.data.sampler", "RandomSampler.__iter__", "slotrt._torch_data"),
    ("torch.utils._python_dispatch", "return_and_correct_aliasing", "slotrt._torch_dispatch"),
    (HOOKS_OF_ALL, HOOKED, "slotrt._torch_functions"),
    (MODULE, "Module.register_forward_", HOOKS),
    (HOOKS_OF_ALL, "RemovableHandle.__e", HOOKS),
    // `contextlib.contextmanager` made it.
    ("contextlib", "DistributedDataParallel._inside_ddp_forward", "slotrt._torch_functions"),
    ("contextlib", "_set_in_optimized_module", COMPILED),
];

/// Whether it is the `__torch_function__` of C that takes over nothing.
fn is_override_off(function: &Bound<'_, PyAny>) -> bool {
    const NAME: &str = "_disabled_torch_function_impl";
    callee::name_of(function) == NAME
        && crate::ffi::modules::import(function.py(), "torch._C")
            .and_then(|native| native.getattr(NAME))
            .is_ok_and(|known| known.is(function))
}

/// Whether modes see more of the function than of what is in its place: that an annotation is made, an operator called, a gradient hooked.
pub(in crate::domain::torch) fn asks_less(function: &Bound<'_, PyAny>) -> bool {
    let is_hook = || callee::qualname_of(function).starts_with(HOOKED);
    module_of(function)
        .is_some_and(|module| module == PROFILER || module == OPERATORS || module == HOOKS_OF_ALL && is_hook())
}

/// What does the same as a function of PyTorch's.
pub(in crate::domain::torch) fn in_place_of<'py>(function: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    if is_override_off(function) {
        return crate::ffi::modules::import(function.py(), "slotrt._torch_overrides")
            .ok()?
            .getattr(name!("without_overrides"))
            .ok();
    }
    // TorchDynamo wraps some of them once it is loaded.
    let inner = kept_out(function);
    let function = inner.as_ref().unwrap_or(function);
    let (module, name) = (module_of(function)?, callee::qualname_of(function));
    let is_there = |room: &str, start: &str| module == room && name.starts_with(start);
    let (.., table) = REPLACED.iter().find(|(room, start, _)| is_there(room, start))?;
    in_table(function, table)
}

/// Whether a trace does not stop within the function.
pub(in crate::domain::torch) fn is_whole(function: &Bound<'_, PyAny>) -> bool {
    let module = module_of(function);
    let Some(module) = module.as_ref().and_then(|module| module.to_str().ok()) else { return false };
    let is_elsewhere = ["copy", "dataclasses", HOOKS, COMPILED].contains(&module);
    if !is_elsewhere && !module.starts_with("torch.") {
        return false;
    }
    let name = callee::qualname_of(function);
    let within = |room: &str| module.strip_prefix(room).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    let is_named = |names: &[&str]| names.is_empty() || names.iter().any(|start| name.starts_with(start));
    let makes = module != MODULE && module.starts_with(MODULES) && name.ends_with(".__init__");
    makes || super::training::is_whole(function) || WHOLES.iter().any(|(room, names)| within(room) && is_named(names))
}
