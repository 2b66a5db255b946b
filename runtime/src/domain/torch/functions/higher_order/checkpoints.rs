//! Both kinds of `torch.utils.checkpoint.checkpoint`.
use crate::domain::Operand;
use crate::domain::torch::examples::unheard::requires_gradients;
use crate::domain::torch::graph_break::{fault, stop};
use crate::graph_break::Break;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyTuple};

const KIND: &str = "checkpoint of another kind";

/// A checkpoint gives what its function gives. The older kind warns where no argument needs gradients, and gives what needs some only where
/// one does. Whether it is the older one.
pub(super) fn allow<'py>(
    given: &[Operand<'py>],
    named: &[(String, Operand<'py>)],
    examples: &[Vec<Bound<'py, PyAny>>],
) -> Result<bool, Box<Break>> {
    let kind = named.iter().find(|(name, _)| name == "use_reentrant").map(|(_, kind)| kind);
    let kind = match kind {
        Some(Operand::Known(kind)) => kind.cast::<PyBool>().ok().map(|kind| kind.is_true()),
        _ => None,
    };
    match kind {
        Some(false) => Ok(false),
        Some(true) if given.iter().any(is_needed) && examples.iter().flatten().all(requires_gradients) => Ok(true),
        _ => Err(stop(KIND, "use_reentrant", "What it gives, or a warning, depends on how it is called.")),
    }
}

/// A backend knows the newer kind; gradients of a call of `backward` are the same.
pub(super) fn take_newer<'py>(py: Python<'py>, named: &mut [(String, Operand<'py>)]) {
    let newer = PyBool::new(py, false).to_owned().into_any();
    let kinds = named.iter_mut().filter(|(name, _)| name == "use_reentrant");
    kinds.for_each(|(_, kind)| *kind = Operand::Known(newer.clone()));
}

/// The older kind goes back by a `backward` of its own: tensors that its function uses beside the arguments get their gradients there, apart
/// from all others. Tells the graph which of the operands are arguments; gives what it calls.
pub(super) fn keep_apart<'py>(
    py: Python<'py>,
    given: &[Operand<'py>],
    operands: &mut Vec<Operand<'py>>,
) -> Result<Bound<'py, PyAny>, Box<Break>> {
    let is_given = |operand: &Operand<'py>| match operand {
        Operand::Graph { value, .. } => {
            given.iter().any(|arg| matches!(arg, Operand::Graph { value: arg, .. } if arg == value))
        }
        _ => false,
    };
    let used = operands.get(1..).unwrap_or_default();
    if !used.iter().any(|operand| is_given(operand) && is_needed(operand)) {
        return Err(stop(KIND, "use_reentrant", "Its function uses no argument that requires gradients."));
    }
    let flags = PyTuple::new(py, used.iter().map(is_given)).map_err(|error| fault(&error))?;
    operands.insert(1, Operand::Known(flags.into_any()));
    let function = crate::ffi::modules::import(py, "slotrt._torch_functions")
        .and_then(|functions| functions.getattr(name!("reentrant")));
    function.map_err(|error| fault(&error))
}

fn is_needed(operand: &Operand<'_>) -> bool {
    match operand {
        Operand::Graph { example, .. } => requires_gradients(example),
        _ => false,
    }
}
