//! What PyTorch knows of gradients.
use super::examples::unheard::{may_require_gradients, requires_gradients};
use super::functions::backward::GRADIENT;
use super::library::Torch;
use crate::domain::{Callee, Gradients, HistoryUse, Operand};
use pyo3::prelude::*;

impl Gradients for Torch {
    fn use_of_history(
        &self,
        callee: &Callee<'_>,
        args: &[Operand<'_>],
        kwargs: &[(String, Operand<'_>)],
    ) -> HistoryUse {
        self.walks_history(callee, args, kwargs)
    }

    fn history_by_name<'py>(&self, callee: &Callee<'py>) -> Option<Bound<'py, PyAny>> {
        self.grad_by_name(callee)
    }

    fn requires_gradients(&self, example: &Bound<'_, PyAny>) -> bool {
        requires_gradients(example)
    }

    fn may_require_gradients(&self, example: &Bound<'_, PyAny>) -> bool {
        may_require_gradients(example)
    }

    fn is_gradient(&self, attribute: &str) -> bool {
        attribute == GRADIENT
    }

    fn hooks_of(&self, object: &Bound<'_, PyAny>) -> &'static [&'static str] {
        self.attributes_of_hooks(object)
    }
}
