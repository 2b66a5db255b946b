//! Generators of random numbers that a program holds or makes: values of the graph, and a domain of their own.
//!
//! In: calls of the class and its methods. Out: nodes, and changes of the generator. What draws from one is an operation on tensors, which is
//! asked without it.
mod calls;
mod drawing;

pub(in crate::domain::torch) use drawing::{GENERATOR, draws_from, with_generator, without_generator};

use super::undo::saved;
use crate::domain::{
    Answer, CallEffects, Callee, Domain, GlobalStateGuard, Gradients, HeldNumbers, LaterCalls, NodeEffects, NumberUse,
    Operand, OwnFunctions, SavedParts, SavedState, Undoing,
};
use crate::ffi::callee;
use crate::graph::ForBackend;
use crate::graph_break::Break;
use crate::guard::DomainCheck;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyModule, PyType};
use std::sync::Arc;

/// The generators of this PyTorch.
#[derive(Debug)]
struct Generators {
    module: Py<PyModule>,
    class: Py<PyType>,
}

/// The domain of the generators of this PyTorch; none while it is being imported.
pub fn new(module: &Bound<'_, PyModule>) -> PyResult<Option<Arc<dyn Domain>>> {
    let Ok(class) = module.getattr(name!("Generator")) else { return Ok(None) };
    let class = class.cast_into::<PyType>()?.unbind();
    Ok(Some(Arc::new(Generators { module: module.clone().unbind(), class })))
}

impl OwnFunctions for Generators {}

impl LaterCalls for Generators {}

impl Gradients for Generators {}

impl HeldNumbers for Generators {}

impl Undoing for Generators {
    fn effects(&self, target: &Bound<'_, PyAny>) -> NodeEffects {
        let name = callee::name_of(target);
        NodeEffects {
            raises: calls::CHANGES.contains(&&*name),
            shares_first: calls::CHANGES.contains(&&*name),
            gives_several: false,
            is_unknown: false,
            draws: false,
            ..NodeEffects::unknown()
        }
    }

    fn call_effects(&self, target: &Bound<'_, PyAny>, args: &[Operand<'_>]) -> CallEffects {
        // A seed that is known was tried.
        let is_sure = callee::name_of(target) == calls::SEED && matches!(args, [_, Operand::Known(_)]);
        CallEffects { is_sure, ..CallEffects::default() }
    }

    fn has_memory(&self) -> bool {
        false
    }

    fn save(
        &self,
        py: Python<'_>,
        objects: &[Bound<'_, PyAny>],
        parts: SavedParts,
    ) -> PyResult<Option<Box<dyn SavedState>>> {
        saved::save(self.module.bind(py), objects, parts).map(Some)
    }
}

impl Domain for Generators {
    fn name(&self) -> &'static str {
        "torch.Generator"
    }

    fn claims(&self, class: &Bound<'_, PyType>) -> bool {
        class.is(&self.class)
    }

    fn claims_callable(&self, callable: &Bound<'_, PyAny>) -> bool {
        callable.is(&self.class)
    }

    fn gives_new_objects(&self) -> bool {
        true
    }

    fn call<'py>(
        &self,
        py: Python<'py>,
        callee: &Callee<'py>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> Result<Answer<'py>, Box<Break>> {
        let module = self.module.bind(py);
        match callee {
            Callee::Function(class) => calls::make(class, args, kwargs),
            Callee::Method(name) => calls::method(module, self.class.bind(py), name, args, kwargs),
            Callee::GetAttr(name) => calls::attribute(name, args),
            // C has neither for them: any is true, and one is equal to itself alone.
            Callee::Slot("nb_bool") => Ok(Answer::Constant(PyBool::new(py, true).to_owned().into_any())),
            Callee::Slot("tp_richcompare") => Ok(Answer::NotImplemented),
            Callee::Slot(slot) => Err(calls::refused(slot)),
        }
    }

    fn use_of_numbers(&self, callee: &Callee<'_>) -> NumberUse {
        match callee {
            Callee::Method(name) if name == calls::SEED => NumberUse::Contents,
            _ => NumberUse::Other,
        }
    }

    fn guard(&self, example: &Bound<'_, PyAny>) -> Result<Box<dyn DomainCheck>, Box<Break>> {
        calls::check(&self.class, example)
    }

    fn for_backend(
        &self,
        _target: &Bound<'_, PyAny>,
        _args: &[Operand<'_>],
        _kwargs: &[(String, Operand<'_>)],
    ) -> ForBackend {
        // PyTorch's compilers take no generators.
        ForBackend::LeavesAlone
    }

    fn global_state_guard(&self, py: Python<'_>) -> Result<GlobalStateGuard, Box<Break>> {
        Ok(GlobalStateGuard { object: self.module.clone_ref(py).into_any(), check: Box::new(calls::Always) })
    }

    fn describe(&self, example: &Bound<'_, PyAny>) -> String {
        crate::ffi::types::text(example)
    }
}
