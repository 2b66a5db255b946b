//! Functions that belong to PyTorch's own compilers: those that they made of others, and their own.
use super::natives;
use crate::domain::torch::named::{is_within, module_of};
use crate::ffi::{callee, inspect, modules, types};
use crate::graph_break::Break;
use crate::names::name;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyModule, PyString};

/// The attribute that says what TorchDynamo compiled, or leaves alone.
const COMPILED_FROM: &str = "_torchdynamo_orig_callable";

/// Where `torch.compile` makes its wrappers, and the code that all of them have; whatever they are called by is the wrapped function's.
const EVAL_FRAME: &str = "torch._dynamo.eval_frame";
const COMPILE_WRAPPER: &str = "_TorchDynamoContext.__call__.<locals>.compile_wrapper";

/// Functions there that run where a program runs: those of modules that `torch.compile` has wrapped.
const OF_WRAPPED_MODULES: &[&str] = &[
    "OptimizedModule.__call__",
    "OptimizedModule.__delattr__",
    "OptimizedModule.__getattr__",
    "OptimizedModule.__len__",
    "OptimizedModule.__setattr__",
    "OptimizedModule.training",
];

/// What `torch.compile` puts around what has no frame of its own, by its code.
const FRAME_AROUND: (&str, &str) = ("torch._dynamo.external_utils", "wrap_inline.<locals>.inner");

/// Where PyTorch wraps functions that it keeps from its compiler.
const KEPT_OUT: &str = "torch._compile";

/// The attribute that `torch._dynamo.assume_constant_result` sets.
const CONSTANT: &str = "_dynamo_marked_constant";

/// The attribute of a function that compiles only where PyTorch's JIT traces: what it calls otherwise.
const ONLY_TRACED: &str = "__original_fn";

/// The packages that compile or transform what they are called with; questions such as `torch.jit.is_tracing` are none of that.
const COMPILERS: &[&str] = &[
    "torch._compile",
    "torch._dynamo",
    "torch._export",
    "torch._functorch._aot_autograd",
    "torch._functorch.aot_autograd",
    "torch._higher_order_ops",
    "torch._inductor",
    "torch._subclasses",
    "torch.export",
    "torch.fx._symbolic_trace",
    "torch.fx.experimental.proxy_tensor",
    "torch.jit._freeze",
    "torch.jit._recursive",
    "torch.jit._script",
    "torch.jit._trace",
    "torch.jit.frontend",
    // It counts what they do.
    "torch.utils._stats",
];

/// Functions of `torch.compiler` that ask whether a compiler runs the program; others call them.
const COMPILER_QUERIES: &[&str] = &["is_compiling", "is_dynamo_compiling"];

/// Modules of theirs whose functions run where a program runs: Python code around operators that take functions, and what an exported program
/// asks of its arguments.
const TRACED: &[&str] = &[
    "torch._dynamo._trace_wrapped_higher_order_op",
    "torch._export.non_strict_utils",
    "torch._export.utils",
    "torch._higher_order_ops.associative_scan",
    "torch._higher_order_ops.cond",
    "torch._higher_order_ops.map",
    "torch._higher_order_ops.scan",
    "torch._higher_order_ops.while_loop",
    "torch.export._tree_utils",
    "torch.export._unlift",
];

/// A function of theirs that compiles, but not in a trace, and some that check what they are called with, and where.
const RUNS: &str = "_maybe_compile_and_run_fn";
const CHECKS: &[&str] = &["check_if_dynamo_supported", "validate_subgraph_args_types"];

/// Modules of theirs and the functions there that check what an operator gets, if no compiler runs.
const CHECKED: &[(&str, &str)] = &[
    ("torch._higher_order_ops.cond", "cond"),
    ("torch._higher_order_ops.utils", RUNS),
    ("torch._higher_order_ops.while_loop", "while_loop"),
];

/// The module by which TorchDynamo notes which modules of neural networks were made while it was there, and what it puts in the place of
/// their methods, with the variable that holds the method itself.
const NOTES: &str = "torch._dynamo.mutation_guard";
const NOTING: &[(&str, &str)] = &[("patched_init", "init"), ("patched_setstate", "setstate")];

/// Where TorchDynamo wraps functions in contexts, the wrapper, and the variables that hold the context and the function.
const WRAPPERS: &str = "torch._dynamo.external_utils";
const IN_CONTEXT: (&str, &str, &str) = ("wrap_dunder_call_ctx_manager.<locals>.inner", "self", "func");

/// The class of contexts that set what nobody but TorchDynamo looks at.
const SETTING: (&str, &str) = ("torch._dynamo.decorators", "DynamoConfigPatchProxy");

/// What tells TorchDynamo to take for a node, or for a graph of its own, what it calls: that is what this variable holds.
const MARKS: &[((&str, &str), &str)] = &[
    (("torch._dynamo.decorators", "nonstrict_trace.<locals>.wrapped"), "traceable_fn"),
    (("torch._higher_order_ops.invoke_subgraph", "mark_compile_region.<locals>.wrap.<locals>.inner"), "func"),
];

/// What TorchDynamo has put something in the place of, which notes or sets beside it what nobody but TorchDynamo looks at.
pub(in crate::domain::torch) fn in_place_of<'py>(function: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let own = callee::name_of(function);
    let (wrapper, context, wrapped) = IN_CONTEXT;
    if wrapper.ends_with(&*own) && module_of(function)? == WRAPPERS && callee::qualname_of(function) == wrapper {
        let class = natives::closure_variable(function, context)?.get_type();
        let sets = crate::ffi::modules::import(function.py(), SETTING.0).and_then(|module| module.getattr(SETTING.1));
        return sets.is_ok_and(|sets| sets.is(&class)).then(|| natives::closure_variable(function, wrapped))?;
    }
    if let Some((_, variable)) = MARKS.iter().find(|(mark, _)| is_made_there(function, *mark)) {
        return natives::closure_variable(function, variable);
    }
    let (_, variable) = NOTING.iter().find(|(name, _)| *name == own)?;
    if module_of(function)? != NOTES {
        return None;
    }
    natives::closure_variable(function, variable)
}

/// What PyTorch has wrapped to keep its compiler from it.
pub(super) fn kept_out<'py>(function: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    // A wrapper has attributes.
    let class = function.get_type();
    if types::is_immutable(&class) && types::dictoffset(&class) == 0 {
        return None;
    }
    let is_kept = inspect::own_attribute(function, intern!(function.py(), COMPILED_FROM)).is_some()
        || module_of(function)? == KEPT_OUT;
    is_kept.then(|| inspect::own_attribute(function, intern!(function.py(), "__wrapped__")))?
}

/// The attribute that holds what `torch.compile` has made this wrapper of.
pub(super) fn compiled_from(function: &Bound<'_, PyAny>) -> Option<&'static str> {
    inspect::own_attribute(function, intern!(function.py(), COMPILED_FROM))?;
    is_made_there(function, (EVAL_FRAME, COMPILE_WRAPPER)).then_some(COMPILED_FROM)
}

/// Whether a function has code of this module and this name, whatever it is called by now.
fn is_made_there(function: &Bound<'_, PyAny>, (module, name): (&str, &str)) -> bool {
    let code_is_named = || {
        let code = inspect::function_code(function)?;
        Some(code.getattr(name!("co_qualname")).ok()?.cast_into::<PyString>().ok()? == name)
    };
    module_of(function).is_some_and(|held| held == module) && code_is_named().unwrap_or(false)
}

/// Whether it is one of the functions that ask whether a compiler runs the program.
pub(in crate::domain::torch) fn asks_for_compiler(
    torch: &Bound<'_, PyModule>,
    function: &Bound<'_, PyAny>,
    name: &str,
) -> bool {
    let room = || torch.getattr(name!("compiler"))?.getattr(name!("__dict__"));
    COMPILER_QUERIES.contains(&name)
        && room().is_ok_and(|room| inspect::globals(function).is_some_and(|globals| globals.is(&room)))
}

/// Whether a function checks what it gets only where it is told of no compiler.
pub(super) fn checks_operands(function: &Bound<'_, PyAny>) -> bool {
    let name = callee::name_of(function);
    CHECKED.iter().any(|(module, own)| name == *own && module_of(function).is_some_and(|room| room == *module))
}

/// Why a Python function runs natively, if it is a compiler's.
pub(in crate::domain::torch) fn break_at(function: &Bound<'_, PyAny>) -> Option<Box<Break>> {
    let compiled = inspect::own_attribute(function, intern!(function.py(), COMPILED_FROM)).is_some();
    if compiled_from(function).is_some() {
        return None;
    }
    // What PyTorch keeps from its compiler may run natively as a whole, too.
    if let Some(inner) = kept_out(function)
        && let Some(whole) = natives::break_at(&inner)
    {
        return Some(whole);
    }
    let kind = match compiled {
        true => "call of a function that TorchDynamo compiles or leaves alone",
        false if is_of_compiler(function)? && in_place_of(function).is_none() => "call of a compiler of PyTorch's",
        false => return None,
    };
    let name = function.getattr(name!("__qualname__")).map(|name| name.to_string()).unwrap_or_default();
    Some(Box::new(Break {
        kind: kind.into(),
        context: name,
        explanation: "a frame belongs to the compiler through whose compiled callable it was entered".into(),
        hints: vec!["call the function itself, which is then part of the graph".into()],
    }))
}

/// Whether a program says that a function gives the same at every call.
pub(in crate::domain::torch) fn is_marked_constant(function: &Bound<'_, PyAny>) -> bool {
    let mark = inspect::own_attribute(function, intern!(function.py(), CONSTANT));
    mark.is_some_and(|mark| mark.is_exact_instance_of::<PyBool>() && mark.is_truthy().unwrap_or(false))
}

/// Modules, and what the names of functions there begin with that say whether graph breaks are errors.
const OF_BREAKS: &[(&str, &[&str])] = &[
    ("torch._dynamo.decorators", &["error_on_graph_break", "ErrorOnGraphBreakDecoratorContextManager."]),
    ("torch._dynamo.external_utils", &["wrap_dunder_call_ctx_manager"]),
    (BREAKS, &["_get_error_on_graph_break", "_set_error_on_graph_break"]),
];

/// Where TorchDynamo keeps whether graph breaks are errors.
const BREAKS: &str = "torch._dynamo.utils";
const ARE_ERRORS: &str = "_error_on_graph_break";

fn sets_breaks(module: &str, qualname: &str) -> bool {
    let is_named = |names: &[&str]| names.iter().any(|start| qualname.starts_with(start));
    OF_BREAKS.iter().any(|(room, names)| module == *room && is_named(names))
}

/// The namespace and the name of the variable that says whether graph breaks are errors.
pub(in crate::domain::torch) fn switch_of_breaks(py: Python<'_>) -> Option<(Bound<'_, PyDict>, &'static str)> {
    let module = modules::imported(&PyString::intern(py, BREAKS))?;
    Some((module.getattr(name!("__dict__")).ok()?.cast_into().ok()?, ARE_ERRORS))
}

/// Whether the function is one of modules that `torch.compile` has wrapped.
fn is_of_wrapped_module(module: &str, function: &Bound<'_, PyAny>) -> bool {
    module == EVAL_FRAME && OF_WRAPPED_MODULES.contains(&&*callee::qualname_of(function))
}

/// Whether the function's module is one of the compiler's.
fn is_of_compiler(function: &Bound<'_, PyAny>) -> Option<bool> {
    let module = module_of(function)?;
    let module = module.to_str().ok()?;
    let name = callee::name_of(function);
    let compiles = COMPILERS.iter().any(|package| is_within(module, package))
        && !TRACED.contains(&module)
        && name != RUNS
        && !CHECKS.iter().any(|own| callee::qualname_of(function).split('.').next() == Some(own))
        && !name.starts_with("is_")
        && !is_of_wrapped_module(module, function)
        && !is_made_there(function, FRAME_AROUND)
        && !sets_breaks(module, &callee::qualname_of(function));
    Some(compiles && inspect::own_attribute(function, intern!(function.py(), ONLY_TRACED)).is_none())
}
