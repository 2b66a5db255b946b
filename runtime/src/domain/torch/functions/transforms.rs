//! Transforms of functions (`vmap`, `grad`, `vjp`, `jvp` and what is made of them): their Python code is traced; the functions of C beneath
//! are nodes that open and close levels, and nodes that wrap tensors for a level and unwrap them. While the trace has a level open, the
//! tensors that stand for those of the graph are wrapped, too.
use crate::domain::torch::graph_break::{CallResult, fault, stop};
use crate::domain::torch::library::Torch;
use crate::domain::torch::meta::Meta;
use crate::domain::torch::named::module_of;
use crate::domain::{Answer, Call, ModeChange, Operand};
use crate::ffi::{callee, modules};
use crate::graph_break::GETS_READY;
use crate::names::{interned, name};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What a call of a function means for the trace.
#[derive(Clone, Copy, Debug)]
enum Meaning {
    /// It makes new tensors.
    Node,
    /// It changes its operand, a wrapped tensor.
    Change,
    /// What it gives is known from the tensors that stand for those of the graph, and from the levels that the trace has opened.
    Known,
    /// It sets what a function of the same room tells, or sets it to nothing; a third function does the opposite.
    Text { question: &'static str, set: &'static str, clear: &'static str },
    /// It opens or closes a level; the function of the same room that does the opposite, and what that is called with.
    Level(&'static str, &'static [Plain]),
    /// It tells a setting.
    Asked,
    /// It fills tables of PyTorch's when it is called first.
    Once,
    /// It imports this module, which fills tables and warns.
    Imports(&'static str),
    /// It keeps PyTorch's compiler of gradients out, which is not in.
    Idle,
}

/// An argument.
#[derive(Clone, Copy, Debug)]
enum Plain {
    Number(usize),
    Text(&'static str),
}

use Meaning::{Idle, Imports, Known, Level, Node, Once};

/// Why nobody may set hooks on saved tensors.
const HOOKS: Meaning = Meaning::Text {
    question: "_saved_tensors_hooks_get_disabled_error_message",
    set: "_saved_tensors_hooks_disable",
    clear: "_saved_tensors_hooks_enable",
};

const VMAP: &[Plain] = &[Plain::Number(1), Plain::Text("error")];

/// Rooms below `torch`, and functions there.
const FUNCTIONS: &[(&str, &[(&str, Meaning)])] = &[
    (
        "_functorch.predispatch",
        &[
            ("_add_batch_dim", Node),
            ("_remove_batch_dim", Node),
            ("_unwrap_for_grad", Node),
            ("_make_dual", Node),
            ("_unpack_dual", Node),
            ("_vmap_increment_nesting", Level("_vmap_decrement_nesting", &[])),
            ("_vmap_decrement_nesting", Level("_vmap_increment_nesting", VMAP)),
            ("_jvp_increment_nesting", Level("_jvp_decrement_nesting", &[])),
            ("_jvp_decrement_nesting", Level("_jvp_increment_nesting", &[])),
            ("_enter_dual_level", Level("_exit_dual_level", &[])),
            ("_exit_dual_level", Level("_enter_dual_level", &[])),
            ("lazy_load_decompositions", Once),
        ],
    ),
    (
        "_C._functorch",
        &[
            ("_wrap_for_grad", Node),
            ("_grad_increment_nesting", Level("_grad_decrement_nesting", &[])),
            ("_grad_decrement_nesting", Level("_grad_increment_nesting", &[])),
            ("is_batchedtensor", Known),
            ("is_gradtrackingtensor", Known),
            ("is_functorch_wrapped_tensor", Known),
            ("maybe_get_level", Known),
            ("maybe_get_bdim", Known),
            ("maybe_current_level", Known),
            ("get_inplace_requires_grad_allowed", Known),
            ("set_inplace_requires_grad_allowed", Level("set_inplace_requires_grad_allowed", &[])),
        ],
    ),
    ("_C", &[("_are_functorch_transforms_active", Known)]),
    ("_C._autograd", &[("_saved_tensors_hooks_disable", HOOKS), ("_saved_tensors_hooks_enable", HOOKS)]),
    ("_C._autograd", &[("_saved_tensors_hooks_get_disabled_error_message", Meaning::Asked)]),
    ("_functorch.eager_transforms", &[("_set_tensor_requires_grad", Meaning::Change)]),
    ("autograd.forward_ad", &[("_maybe_load_decompositions", Imports("torch._decomp.decompositions_for_jvp"))]),
    ("_dynamo.compiled_autograd", &[("_disable", Idle)]),
];

/// Modules whose functions are traced as a whole or run natively as a whole.
const WHOLE: &[&str] = &[
    "torch._functorch.apis",
    "torch._functorch.eager_transforms",
    "torch._functorch.functional_call",
    "torch._functorch.vmap",
    "torch._higher_order_ops.associative_scan",
    "torch._higher_order_ops.cond",
    "torch._higher_order_ops.map",
    "torch._higher_order_ops.scan",
    "torch._higher_order_ops.while_loop",
    "torch.nn.attention.flex_attention",
];

/// What those functions import when they are first called.
const IMPORTED: &[&str] = &["torch._dynamo.compiled_autograd", "torch._export.utils", "torch._functorch.predispatch"];

/// Allows changes of `requires_grad` in place, for a while.
const ALLOWED: &str = "inplace_requires_grad_allowed";

impl Torch {
    /// Whether it is a part of the transforms that is not traced into.
    pub(in crate::domain::torch) fn is_of_transforms(&self, callable: &Bound<'_, PyAny>) -> bool {
        self.meaning(callable).is_some()
    }

    /// Whether a trace does not stop within the function.
    pub(in crate::domain::torch) fn is_transform(&self, function: &Bound<'_, PyAny>) -> bool {
        let module = module_of(function);
        let is_whole =
            module.as_ref().and_then(|module| module.to_str().ok()).is_some_and(|name| WHOLE.contains(&name));
        // A failure shows where the function imports them itself.
        is_whole && IMPORTED.iter().all(|module| crate::ffi::modules::import(function.py(), *module).is_ok())
    }

    /// Whether an answer of theirs is so whatever the sizes.
    pub(in crate::domain::torch) fn tells_of_wrappers(&self, callable: &Bound<'_, PyAny>) -> bool {
        matches!(self.meaning(callable), Some((_, Known)))
    }

    /// Whether it begins or ends a level of its own, of which there is one in each graph that runs.
    pub(in crate::domain::torch) fn is_nesting(&self, callable: &Bound<'_, PyAny>) -> bool {
        callee::name_of(callable).ends_with("crement_nesting") && matches!(self.meaning(callable), Some((_, Level(..))))
    }

    fn meaning<'py>(&self, callable: &Bound<'py, PyAny>) -> Option<(Bound<'py, PyAny>, Meaning)> {
        let own = callee::name_of(callable);
        for (path, functions) in FUNCTIONS {
            let Some((_, meaning)) = functions.iter().find(|(name, _)| *name == own) else { continue };
            let found = self.room(callable.py(), path);
            if let Some(room) = found.filter(|room| room.getattr(&*own).is_ok_and(|known| known.is(callable))) {
                return Some((room, *meaning));
            }
        }
        None
    }

    /// A module below `torch`, if it is imported.
    fn room<'py>(&self, py: Python<'py>, path: &str) -> Option<Bound<'py, PyAny>> {
        let mut room = self.module.bind(py).clone().into_any();
        for part in path.split('.') {
            // Not by `__getattr__`, which imports.
            room = room.getattr(name!("__dict__")).ok()?.get_item(part).ok()?;
        }
        Some(room)
    }

    /// A call of a part of the transforms.
    pub(in crate::domain::torch) fn transform<'py>(
        &self,
        meta: &Meta<'_, 'py>,
        function: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> CallResult<'py> {
        let Some((room, meaning)) = self.meaning(function) else { return Err(unlike(function)) };
        match meaning {
            Node => meta.record(function.clone(), args, kwargs),
            Meaning::Change => {
                let mut answer = meta.change(&callee::name_of(function), function.clone(), args, kwargs)?;
                if let Answer::Change { changes, .. } = &mut answer {
                    // What the tensor holds is as it was.
                    changes.clear();
                }
                Ok(answer)
            }
            Known => {
                let operands = args.iter().map(|arg| meta.object(arg)).collect::<Result<Vec<_>, _>>()?;
                let operands = pyo3::types::PyTuple::new(meta.py, operands).map_err(|error| fault(&error))?;
                Ok(function.call1(operands).map_or_else(Answer::Raised, Answer::Constant))
            }
            Meaning::Asked if args.is_empty() => Ok(Answer::Guarded(function.clone(), Vec::new())),
            Meaning::Text { question, set, clear } => {
                let before = || {
                    let question = room.getattr(question)?;
                    let told = question.call0()?;
                    let undo = if told.is_none() {
                        (room.getattr(clear)?, Vec::new())
                    } else {
                        (room.getattr(set)?, vec![told])
                    };
                    PyResult::Ok((undo, question))
                };
                let (undo, question) = before().map_err(|error| fault(&error))?;
                let (args, named) = all_known(args, kwargs).ok_or_else(|| unlike(function))?;
                let (set, questions) = ((function.clone(), args), vec![(question, Vec::new())]);
                let (restore, undo) = (Some(undo.clone()), Some(undo));
                let change = ModeChange { named, restore, undo, questions, ..ModeChange::new(set) };
                Ok(Answer::ModeChange(Box::new(change)))
            }
            Level(opposite, arguments) => self.level(&room, function, (opposite, arguments), args, kwargs),
            Imports(module) if modules::imported(&interned(meta.py, module)).is_none() => {
                Err(stop(GETS_READY, callee::name_of(function), "It imports a part of PyTorch, at the first call."))
            }
            Once | Imports(_) if args.is_empty() => Ok(function.call0().map_or_else(Answer::Raised, Answer::Constant)),
            Idle if !room
                .getattr(name!("compiled_autograd_enabled"))
                .is_ok_and(|on| on.is_truthy().unwrap_or(true)) =>
            {
                let nothing = crate::ffi::modules::import(meta.py, "contextlib")
                    .and_then(|module| module.getattr(name!("nullcontext")));
                nothing.and_then(|nothing| nothing.call0()).map(Answer::Constant).map_err(|error| fault(&error))
            }
            Once | Imports(_) | Idle | Meaning::Asked => Err(unlike(function)),
        }
    }

    fn level<'py>(
        &self,
        room: &Bound<'py, PyAny>,
        function: &Bound<'py, PyAny>,
        (opposite, arguments): (&str, &[Plain]),
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> CallResult<'py> {
        let numbers = args.iter().enumerate().filter(|(_, arg)| matches!(arg, Operand::Number { .. }));
        let numbers: Vec<_> = numbers.map(|(place, number)| (place, number.clone())).collect();
        let now: Vec<_> = args.iter().map(in_this_call).collect();
        let (args, named) = all_known(&now, kwargs).ok_or_else(|| unlike(function))?;
        let change = self.change(room, function, (opposite, arguments), args, named);
        change
            .map(|change| Answer::ModeChange(Box::new(ModeChange { numbers, ..change })))
            .map_err(|error| fault(&error))
    }

    fn change<'py>(
        &self,
        room: &Bound<'py, PyAny>,
        function: &Bound<'py, PyAny>,
        (opposite, arguments): (&str, &[Plain]),
        args: Vec<Bound<'py, PyAny>>,
        named: Vec<(String, Bound<'py, PyAny>)>,
    ) -> PyResult<ModeChange<'py>> {
        let py = function.py();
        let given = arguments.iter().map(|argument| match argument {
            Plain::Number(number) => Ok(number.into_pyobject(py)?.into_any()),
            Plain::Text(text) => Ok(interned(py, text).into_any()),
        });
        let change = ModeChange { named, ..ModeChange::new((function.clone(), args)) };
        let mut undo = (room.getattr(opposite)?, given.collect::<PyResult<Vec<_>>>()?);
        if opposite.ends_with(ALLOWED) {
            // What it sets is known to nobody else.
            undo.1 = vec![room.getattr(interned(py, &format!("get_{ALLOWED}")))?.call0()?];
            return Ok(ModeChange { restore: Some(undo.clone()), undo: Some(undo), ..change });
        }
        if opposite.contains("dual_level") {
            self.ambient.duals().begin();
            let undo = exiting(undo, opposite)?;
            let restore = opposite.contains("exit").then(|| undo.clone());
            return Ok(ModeChange { undo: Some(undo), restore, ..change });
        }
        let torch = self.module.bind(py);
        let questions = vec![(torch.getattr(name!("is_grad_enabled"))?, Vec::new())];
        let transforms = torch.getattr(name!("_C"))?.getattr(name!("_functorch"))?;
        let none = 0_usize.into_pyobject(py)?.into_any();
        let restore = Some((transforms.getattr(name!("pop_dynamic_layer_stack_and_undo_to_depth"))?, vec![none]));
        Ok(ModeChange { undo: Some(undo), restore, questions, ..change })
    }
}

/// The function that closes the level of dual numbers takes its argument by name.
fn exiting<'py>((callable, args): Call<'py>, name: &str) -> PyResult<Call<'py>> {
    if !name.contains("exit") {
        return Ok((callable, args));
    }
    let py = callable.py();
    let named = PyDict::new(py);
    named.set_item(name!("level"), 0)?;
    let partial =
        crate::ffi::modules::import(py, "functools")?.getattr(name!("partial"))?.call((callable,), Some(&named))?;
    Ok((partial, args))
}

/// How many there are that a function maps over is a number in this call.
fn in_this_call<'py>(arg: &Operand<'py>) -> Operand<'py> {
    match arg {
        Operand::Number { hint, .. } => Operand::Known(hint.clone()),
        _ => arg.clone(),
    }
}

type Arguments<'py> = (Vec<Bound<'py, PyAny>>, Vec<(String, Bound<'py, PyAny>)>);

/// Arguments that are known objects, all of them.
fn all_known<'py>(args: &[Operand<'py>], kwargs: &[(String, Operand<'py>)]) -> Option<Arguments<'py>> {
    let known = |arg: &Operand<'py>| match arg {
        Operand::Known(object) => Some(object.clone()),
        _ => None,
    };
    let args = args.iter().map(known).collect::<Option<Vec<_>>>()?;
    let named = kwargs.iter().map(|(name, value)| Some((name.clone(), known(value)?)));
    Some((args, named.collect::<Option<Vec<_>>>()?))
}

fn unlike(function: &Bound<'_, PyAny>) -> Box<crate::graph_break::Break> {
    stop("unsupported form of a PyTorch call", callee::name_of(function).as_ref(), "It is called as PyTorch does not.")
}
