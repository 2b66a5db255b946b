//! `slotrt._slotrt.ShapeRules`: what the rules of shapes say of calls of PyTorch, so that tests can compare it with what calls give.
use crate::domain::torch::{ShapeRules as Rules, SymbolicAnswer};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// The rules for the PyTorch that is imported.
#[pyclass(name = "ShapeRules", module = "slotrt._slotrt", frozen)]
#[derive(Debug)]
pub(super) struct ShapeRules(Rules);

#[pymethods]
impl ShapeRules {
    #[new]
    fn new(py: Python<'_>) -> PyResult<Self> {
        Rules::new(&crate::ffi::modules::import(py, "torch")?).map(Self)
    }

    /// The kind of answer, and type, shape, strides and `requires_grad` of each tensor; `None`: PyTorch would be asked.
    fn answer<'py>(
        &self,
        target: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: &Bound<'py, PyDict>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.0.answer(target, args, kwargs)
    }

    /// The same where sizes and integers that are at least 2 are symbols: texts of expressions for sizes and strides; then the
    /// conditions that decided the answer, and what `s0`, `s1` and so on are.
    fn symbolic_answer<'py>(
        &self,
        target: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: &Bound<'py, PyDict>,
    ) -> PyResult<Option<SymbolicAnswer<'py>>> {
        self.0.symbolic_answer(target, args, kwargs)
    }
}
