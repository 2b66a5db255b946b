//! Graph breaks of PyTorch.
use crate::domain::Answer;
use crate::ffi::types;
use crate::graph_break::Break;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// The answer to an operation, or a graph break.
pub(super) type CallResult<'py> = Result<Answer<'py>, Box<Break>>;

/// A break with the domain's usual hint.
pub(super) fn stop(kind: &str, context: impl Into<String>, explanation: &str) -> Box<Break> {
    let hints = vec!["avoid control flow and conversions that depend on tensor contents".to_owned()];
    Box::new(Break { kind: kind.into(), context: context.into(), explanation: explanation.into(), hints })
}

/// A break at an operation that changes a tensor in place in a way that is not recorded.
pub(super) fn refused_change(name: &str, explanation: &str) -> Box<Break> {
    stop("in-place change of a tensor", name, explanation)
}

/// A break at a tensor of the `meta` device whose class hears what is done with it.
pub(super) fn heard_without_contents(class: &Bound<'_, PyType>) -> Box<Break> {
    let explanation = "PyTorch works on tensors of the meta device in Python, which such a class hears.";
    stop("class of tensors without contents", types::name(class), explanation)
}

/// A break where PyTorch itself is not as expected.
pub(super) fn fault(error: &PyErr) -> Box<Break> {
    stop("PyTorch is not as expected", error.to_string(), "An attribute that every PyTorch has could not be read.")
}
