//! What says what is to be done with gradients when there are some: it is called after the graph.
use crate::domain::torch::examples::unheard::{requires_gradients, says};
use crate::domain::torch::library::Torch;
use crate::domain::torch::own::{BYTES_OF, CHECK_OF_GUESS, CHECKS, MODULE, STORAGE_ADDRESS_OF, is_named};
use crate::domain::{LaterCall, LaterCalls};
use crate::ffi::callee;
use crate::ffi::libtorch::Quiet;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// The function that adds hooks of modules to a node.
const ADD: &str = "add_to_node";

/// The function that raises where a number of the graph has another truth than this one.
pub(in crate::domain::torch) fn check_of(py: Python<'_>, truth: bool) -> Option<Bound<'_, PyAny>> {
    crate::ffi::modules::import(py, MODULE).ok()?.getattr(CHECKS[usize::from(truth)]).ok()
}

/// The function that raises where a truth is not the one that was guessed.
pub(in crate::domain::torch) fn check_of_guess(py: Python<'_>) -> Option<Bound<'_, PyAny>> {
    crate::ffi::modules::import(py, MODULE).ok()?.getattr(CHECK_OF_GUESS).ok()
}

/// Methods of tensors that say what is to be done with gradients when there are some.
const HOOK: &str = "register_hook";
const RETAIN: &str = "retain_grad";
/// The attribute that is the node of the graph of gradients that gave a tensor, and the function that gives it.
const NODE: &str = "grad_fn";
const NODE_OF: &str = "node_of";

/// Methods of such a node that add hooks, and the functions that do the same.
const METHODS: &[(&str, &str)] = &[("register_hook", "hook_node"), ("register_prehook", "hook_before_node")];
/// The method that gives the memory of a tensor; methods of that, the functions that do the same, and those that tell it of the tensor.
const STORAGE: &str = "untyped_storage";
const OF_STORAGE: &[(&str, &str, &str)] = &[
    ("data_ptr", "address_of_storage", STORAGE_ADDRESS_OF),
    ("nbytes", "bytes_of_storage", BYTES_OF),
    ("size", "bytes_of_storage", BYTES_OF),
];
const ACCUMULATED: &str = "register_post_accumulate_grad_hook";

impl LaterCalls for Torch {
    fn is_called_after(&self, callable: &Bound<'_, PyAny>) -> bool {
        let own = callee::name_of(callable);
        let known = || self.tensor.bind(callable.py()).getattr(&*own);
        [HOOK, RETAIN, ACCUMULATED, STORAGE].contains(&&*own) && known().is_ok_and(|known| known.is(callable))
            || is_named(callable, ADD)
            || METHODS.iter().any(|(_, own)| is_named(callable, own))
    }

    fn called_after(&self, callable: &Bound<'_, PyAny>, example: &Bound<'_, PyAny>, count: usize) -> Option<LaterCall> {
        let _quiet = Quiet::about([example]);
        let name = callee::name_of(callable);
        if name == STORAGE {
            return (count == 1 && self.is_tensor(example)).then_some(LaterCall::GivesObject);
        }
        let gives = match &*name {
            HOOK | ACCUMULATED => LaterCall::GivesHandle,
            RETAIN => LaterCall::InGraph,
            _ => LaterCall::GivesNothing,
        };
        if self.is_heard_later(example) {
            return None;
        }
        let needs = requires_gradients(example) && (name != ACCUMULATED || says(example, name!("is_leaf")).ok()?);
        (needs && count == 1 + usize::from(name != RETAIN)).then_some(gives)
    }

    fn class_of_handles<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyType>> {
        class_of_handles(py)
    }

    fn removes_handle(&self, function: &Bound<'_, PyAny>) -> bool {
        let known = || class_of_handles(function.py())?.getattr(name!("remove")).ok();
        callee::name_of(function) == "remove" && known().is_some_and(|known| known.is(function))
    }

    fn may_be_later(&self, attribute: &str) -> bool {
        attribute == NODE
    }

    fn later_attribute<'py>(&self, example: &Bound<'py, PyAny>, _attribute: &str) -> Option<Bound<'py, PyAny>> {
        let is_made = requires_gradients(example) && !says(example, name!("is_leaf")).ok()?;
        (is_made && !self.is_heard_later(example)).then(|| own_function(example.py(), NODE_OF))?
    }

    fn later_method<'py>(&self, giver: &Bound<'py, PyAny>, name: &str) -> Option<Bound<'py, PyAny>> {
        let own = match self.gives_storage(giver) {
            true => OF_STORAGE.iter().find(|(method, ..)| *method == name)?.1,
            false => METHODS.iter().find(|(method, _)| *method == name)?.1,
        };
        own_function(giver.py(), own)
    }

    fn asked_of_giver<'py>(&self, function: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
        let (.., of_tensor) = OF_STORAGE.iter().find(|(_, own, _)| is_named(function, own))?;
        own_function(function.py(), of_tensor)
    }

    fn gives_storage(&self, giver: &Bound<'_, PyAny>) -> bool {
        callee::name_of(giver) == STORAGE
    }
}

impl Torch {
    /// Whether calls with the tensor are handed to a function of its class after the graph, when that is no longer switched off.
    fn is_heard_later(&self, example: &Bound<'_, PyAny>) -> bool {
        self.has_override(&self.class_of_example(example))
    }
}

/// A function of the project.
fn own_function<'py>(py: Python<'py>, name: &str) -> Option<Bound<'py, PyAny>> {
    crate::ffi::modules::import(py, MODULE).ok()?.getattr(name).ok()
}

/// The class of what removes a hook.
fn class_of_handles(py: Python<'_>) -> Option<Bound<'_, PyType>> {
    crate::ffi::modules::import(py, "torch.utils.hooks").ok()?.getattr(name!("RemovableHandle")).ok()?.cast_into().ok()
}
