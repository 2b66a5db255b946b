//! Functions of PyTorch's that run natively, each as a whole: what walks or changes the graph of gradients, and what keeps state that
//! is another after each call. Their parts give graphs of no use, or new traces at each step.
use super::module_calls::calls_module;
use crate::domain::torch::named::{is_within, module_of};
use crate::ffi::{callee, inspect, types};
use crate::graph_break::{Break, GETS_READY, RUN_AS_A_WHOLE};
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

/// A module, or a package; beginnings of the qualified names of functions there that run natively, and what they are about.
const NATIVES: &[(&str, &[&str], &str)] = &[
    ("torch", &["compile"], COMPILES),
    ("torch._tensor", &["Tensor.backward", "Tensor.register_"], GRADIENTS),
    ("torch.autograd", &["backward", "grad", "_make_grads", "_tensor_or_tensors_to_tuple"], GRADIENTS),
    (FUNCTIONS, ALL, GRADIENTS),
    ("torch.autograd.functional", ALL, GRADIENTS),
    ("torch.autograd.graph", ALL, GRADIENTS),
    ("torch.cuda", OF_DEVICES, DEVICES),
    ("torch.cuda.streams", ALL, DEVICES),
    ("torch.cuda.random", ALL, DEVICES),
    ("torch.xpu", OF_DEVICES, DEVICES),
    ("torch.xpu.streams", ALL, DEVICES),
    ("torch.xpu.random", ALL, DEVICES),
    ("torch.accelerator", OF_DEVICES, DEVICES),
    ("torch.autograd.profiler", &["profile.", "emit_itt.", "emit_nvtx."], RECORDS),
    ("torch.nested", ALL, NESTED),
    ("torch.nested._internal.nested_tensor", ALL, NESTED),
    ("torch.nested._internal.ops", ALL, NESTED),
    ("torch.nn.modules.module", MODULE_HOOKS, HOOKS),
    ("torch.nn.parallel.distributed", SYNCHRONISED, PROCESSES),
    ("torch.nn.utils.rnn", PACKS, PACKED),
    ("torch.nn.utils.clip_grad", ALL, GRADIENTS),
    ("torch.optim", ALL, STEPS),
    ("torch.profiler", ALL, RECORDS),
    ("torch.utils.dlpack", ALL, OTHERS),
    ("torch.utils._device", &["DeviceContext.__enter__", "DeviceContext.__exit__"], MODES),
    ("torch.utils._python_dispatch", &["TorchDispatchMode.__enter__", "TorchDispatchMode.__exit__"], MODES),
    ("torch.utils.hooks", ALL, HOOKS),
];

/// Where functions with gradients of their own are made.
const FUNCTIONS: &str = "torch.autograd.function";

/// Rooms with rooms below them.
const PACKAGES: &[&str] = &["torch.optim", "torch.profiler"];

/// The package of optimisers has a module of neural networks, too: those are traced.
const TRACED: &str = "torch.optim.swa_utils";

/// A context that keeps a setting, and nothing else; what makes the class that goes backward for a class that goes forward; what puts a
/// module that has hooks between nodes that these are added to.
const PLAIN: &[&str] = &[
    "disable_saved_tensors_hooks",
    "FunctionMeta.__init__",
    "BackwardHook.__init__",
    "BackwardHook.setup_input_hook",
    "BackwardHook.setup_output_hook",
];

const ALL: &[&str] = &[""];

/// Parts of modules are registered with other names.
const MODULE_HOOKS: &[&str] = &[
    "Module.register_backward",
    "Module.register_forward",
    "Module.register_full",
    "Module.register_load",
    "Module.register_state",
    "Module._register_",
];

/// What comes before and after the module of a `DistributedDataParallel`, which is traced.
const SYNCHRONISED: &[&str] = &["DistributedDataParallel._pre_forward", "DistributedDataParallel._post_forward"];

/// What waits for a device, or says which device or which of its queues is the current one.
const OF_DEVICES: &[&str] = &[
    "StreamContext.",
    "_set_stream",
    "current_stream",
    "default_stream",
    "device.",
    "device_of.",
    "empty_cache",
    "max_memory",
    "memory_",
    "reset_",
    "set_device",
    "set_stream",
    "stream",
    "synchronize",
];

/// What gives the parameters of a lazy module their sizes.
const LAZY: &str = "torch.nn.modules.lazy";
const READY: &str = "LazyModuleMixin._infer_parameters";

/// What scales gradients, and asks whether they are finite; where it is switched off it does nothing.
const SCALER: &str = "torch.amp.grad_scaler";
const SCALES: &str = "GradScaler.";

const COMPILES: &str = "it sets a compiler up";
const INFERS: &str = "it makes parameters as the first input asks for them";
const PROCESSES: &str = "it works together with other processes";
/// Their sizes are numbers in a tensor.
const PACKS: &[&str] = &["pack_", "pad_packed_sequence", "unpack_sequence", "unpad_sequence"];

const NESTED: &str = "tensors of several lengths are no tensors of the graph";
const PACKED: &str = "the lengths of sequences are contents of a tensor";
const GRADIENTS: &str = "it works on gradients, and on the graph that they are computed with";
const STEPS: &str = "it keeps numbers that are others after each step";
const MODES: &str = "what it begins or ends sees each operation";
const RECORDS: &str = "it records what runs, from where it begins to where it ends";
const DEVICES: &str = "it works with a device, not with tensors";
const OTHERS: &str = "it hands memory to other libraries, and takes theirs";
const SCRIPTED: &str = "PyTorch's JIT has compiled it";
const HOOKS: &str = "it keeps account of hooks";

/// Whether a module that has no modules below it has hooks that go backward of the old kind: they are added to whatever node its result has.
fn is_hooked(module: &Bound<'_, PyAny>) -> bool {
    let has = |name: &str| {
        let held = module.getattr(name!("__dict__")).and_then(|own| own.get_item(name));
        held.is_ok_and(|held| held.is_truthy().unwrap_or(false))
    };
    !has("_modules") && has("_backward_hooks") && !has("_is_full_backward_hook")
}

/// Whether PyTorch's JIT has compiled a module.
fn is_scripted(module: &Bound<'_, PyAny>) -> bool {
    let class =
        crate::ffi::modules::import(module.py(), "torch.jit").and_then(|jit| jit.getattr(name!("ScriptModule")));
    class.is_ok_and(|class| class.cast::<PyType>().is_ok_and(|class| types::is_subtype(&module.get_type(), class)))
}

/// Why a call runs natively where its arguments say so: a recurrent module of a packed sequence, a module with hooks that go backward.
pub(in crate::domain::torch) fn break_at_call<'py>(
    function: &Bound<'py, PyAny>,
    qualname: &str,
    argument: &dyn Fn(usize) -> Option<Bound<'py, PyAny>>,
) -> Option<Box<Break>> {
    if calls_module(function) {
        let module = argument(0)?;
        let why = if is_hooked(&module) { Some(HOOKS) } else { is_scripted(&module).then_some(SCRIPTED) };
        return why.map(|why| as_a_whole(types::name(&module.get_type()), why));
    }
    if qualname.starts_with(SCALES) && module_of(function)? == SCALER {
        let scales = argument(0)?.getattr(name!("_enabled")).and_then(|enabled| enabled.is_truthy()).unwrap_or(true);
        return scales.then(|| as_a_whole(qualname.to_owned(), STEPS));
    }
    let recurrent = qualname.ends_with(".forward") && module_of(function)? == "torch.nn.modules.rnn";
    let packed = recurrent && types::name(&argument(1)?.get_type()) == "PackedSequence";
    packed.then(|| as_a_whole(qualname.to_owned(), PACKED))
}

/// The object that a variable of an outer function holds.
pub(super) fn closure_variable<'py>(function: &Bound<'py, PyAny>, variable: &str) -> Option<Bound<'py, PyAny>> {
    let names = inspect::function_code(function)?.getattr(name!("co_freevars")).ok()?.cast_into::<PyTuple>().ok()?;
    let at = names.iter().position(|name| name.eq(variable).unwrap_or(false))?;
    let cells = inspect::function_closure(function)?.cast_into::<PyTuple>().ok()?;
    cells.get_item(at).ok()?.getattr(name!("cell_contents")).ok()
}

fn as_a_whole(context: String, explanation: &str) -> Box<Break> {
    Box::new(Break {
        kind: RUN_AS_A_WHOLE.into(),
        context,
        explanation: explanation.to_owned(),
        hints: vec!["the graph before it and the graph after it are kept; nothing needs to be done".into()],
    })
}

/// Why a Python function runs natively, if it is such.
pub(in crate::domain::torch) fn break_at(function: &Bound<'_, PyAny>) -> Option<Box<Break>> {
    let module = module_of(function)?;
    let module = module.to_str().ok()?;
    let name = callee::qualname_of(function);
    if module == LAZY && name == READY {
        return Some(Box::new(Break { kind: GETS_READY.into(), ..*as_a_whole(name, INFERS) }));
    }
    if module == TRACED || !module.starts_with("torch") || PLAIN.contains(&name.as_str()) {
        return None;
    }
    if module == FUNCTIONS && !function.getattr(name!("__module__")).is_ok_and(|of| of.eq(FUNCTIONS).unwrap_or(true)) {
        // `once_differentiable` has wrapped a function of the program.
        return None;
    }
    let is_there = |room: &str| module == room || PACKAGES.contains(&room) && is_within(module, room);
    let is_named = |names: &[&str]| names.iter().any(|start| name.starts_with(start));
    let (_, _, explanation) = NATIVES.iter().find(|(room, names, _)| is_there(room) && is_named(names))?;
    Some(as_a_whole(name, explanation))
}
