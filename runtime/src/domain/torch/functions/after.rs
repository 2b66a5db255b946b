//! What says what is to be done with gradients when there are some: it is called after the graph.
use crate::domain::LaterCall;
use crate::domain::torch::library::Torch;
use crate::domain::torch::own::{CHECK_OF_GUESS, CHECKS, MODULE, is_named};
use crate::ffi::callee;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// The function that adds hooks of modules to a node.
const ADD: &str = "add_to_node";

/// The class of what removes a hook.
pub(in crate::domain::torch) fn class_of_handles(py: Python<'_>) -> Option<Bound<'_, PyType>> {
    crate::ffi::modules::import(py, "torch.utils.hooks").ok()?.getattr(name!("RemovableHandle")).ok()?.cast_into().ok()
}

/// Whether it is the method that removes a hook.
pub(in crate::domain::torch) fn removes_handle(function: &Bound<'_, PyAny>) -> bool {
    let known = || class_of_handles(function.py())?.getattr(name!("remove")).ok();
    callee::name_of(function) == "remove" && known().is_some_and(|known| known.is(function))
}

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
const ACCUMULATED: &str = "register_post_accumulate_grad_hook";

impl Torch {
    /// Whether it is such a method.
    pub(in crate::domain::torch) fn is_of_later_gradients(&self, callable: &Bound<'_, PyAny>) -> bool {
        let own = callee::name_of(callable);
        let known = || self.tensor.bind(callable.py()).getattr(&*own);
        [HOOK, RETAIN, ACCUMULATED].contains(&&*own) && known().is_ok_and(|known| known.is(callable))
            || is_named(callable, ADD)
    }

    /// What a call of it on what `example` stands for gives; `None`: it may raise.
    pub(in crate::domain::torch) fn later_gradients(
        &self,
        callable: &Bound<'_, PyAny>,
        example: &Bound<'_, PyAny>,
        count: usize,
    ) -> Option<LaterCall> {
        let name = callee::name_of(callable);
        let gives = match &*name {
            HOOK | ACCUMULATED => LaterCall::GivesHandle,
            RETAIN => LaterCall::InGraph,
            _ => LaterCall::GivesNothing,
        };
        let is = |attribute: &str| example.getattr(attribute).ok()?.is_truthy().ok();
        let needs = is("requires_grad")? && (name != ACCUMULATED || is("is_leaf")?);
        (needs && count == 1 + usize::from(name != RETAIN)).then_some(gives)
    }
}
