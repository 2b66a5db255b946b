//! Tensors with tangents (forward-mode differentiation): shape rules know nothing of tangents, and stand-ins for tensors from outside have none.
use crate::domain::Operand;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyModule};
use std::sync::atomic::{AtomicBool, Ordering};

/// The level that PyTorch allows.
const LEVEL: i64 = 0;

/// The variable that says which level is open.
const CURRENT: &str = "_current_level";

/// Asks about tangents.
#[derive(Debug)]
pub(in crate::domain::torch) struct Duals {
    /// The namespace that has the current level.
    levels: Py<PyDict>,
    /// Gives a tensor without its tangent, and the tangent.
    unpack: Py<PyAny>,
    /// The class of what has tangents.
    tensor: Py<PyAny>,
    /// Whether a trace has opened a level: before that no stand-in has a tangent, and none is asked.
    seen: AtomicBool,
}

impl Duals {
    pub(super) fn new(module: &Bound<'_, PyModule>) -> PyResult<Self> {
        let levels = module.getattr(name!("autograd"))?.getattr(name!("forward_ad"))?.getattr(name!("__dict__"))?;
        let functions = module.getattr(name!("_C"))?.getattr(name!("_VariableFunctions"))?;
        Ok(Self {
            levels: levels.cast_into::<PyDict>()?.unbind(),
            unpack: functions.getattr(name!("_unpack_dual"))?.unbind(),
            tensor: module.getattr(name!("Tensor"))?.unbind(),
            seen: AtomicBool::new(false),
        })
    }

    /// The namespace that has the current level, and its name there.
    pub(in crate::domain::torch) fn variable<'py>(&self, py: Python<'py>) -> (Bound<'py, PyDict>, &'static str) {
        (self.levels.bind(py).clone(), CURRENT)
    }

    /// A trace opens a level.
    pub(in crate::domain::torch) fn begin(&self) {
        self.seen.store(true, Ordering::Relaxed);
    }

    /// Whether a level was open before the trace: what a trace sets in this namespace is set after it.
    pub(in crate::domain::torch) fn may_come_from_outside(&self, py: Python<'_>) -> PyResult<bool> {
        let level = self.levels.bind(py).get_item(CURRENT)?;
        level.map_or(Ok(false), |level| level.extract::<i64>().map(|level| level >= LEVEL))
    }

    /// Whether one of the operands has a tangent.
    pub(super) fn are_among(&self, py: Python<'_>, args: &[Operand<'_>]) -> PyResult<bool> {
        if !self.seen.load(Ordering::Relaxed) {
            return Ok(false);
        }
        args.iter().map(|arg| self.holds_tangent(py, arg)).try_fold(false, |any, one| Ok(any || one?))
    }

    fn holds_tangent(&self, py: Python<'_>, operand: &Operand<'_>) -> PyResult<bool> {
        match operand {
            Operand::Graph { example, .. } if example.get_type().is(&self.tensor) => {
                let named = PyDict::new(py);
                named.set_item(name!("level"), LEVEL)?;
                Ok(!self.unpack.bind(py).call((example,), Some(&named))?.get_item(1)?.is_none())
            }
            Operand::Tuple(items) | Operand::List(items) => {
                items.iter().map(|item| self.holds_tangent(py, item)).try_fold(false, |any, one| Ok(any || one?))
            }
            _ => Ok(false),
        }
    }
}
