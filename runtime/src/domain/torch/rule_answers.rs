//! What rules say, as plain data.
use super::calls;
use super::library::Torch;
use super::meta::Meta;
use super::ruled::Ruled;
use super::shapes::{Answer as Known, Container, Tensor};
use super::sketch::Extent;
use crate::domain::Operand;
use crate::graph::ValueId;
use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyModule, PyTuple};

/// The rules of shapes for one PyTorch.
#[derive(Debug)]
pub struct ShapeRules(Torch);

impl ShapeRules {
    /// For the PyTorch of this module.
    pub fn new(module: &Bound<'_, PyModule>) -> PyResult<Self> {
        calls::library(module)?.map(Self).ok_or_else(|| PyImportError::new_err("torch is not imported as a whole"))
    }

    /// What a rule says that a call gives: the kind of answer, then type, shape, strides and `requires_grad` of each tensor; `None`: no
    /// rule knows.
    pub fn answer<'py>(
        &self,
        target: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: &Bound<'py, PyDict>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let meta = Meta { torch: &self.0, py: target.py() };
        let args: Vec<_> = args.iter().map(|arg| self.operand(&arg)).collect();
        let mut named = Vec::new();
        for (name, value) in kwargs {
            named.push((name.extract()?, self.operand(&value)));
        }
        meta.ask(target, &args, &named).map(|ruled| self.data(target.py(), ruled)).transpose()
    }

    fn data<'py>(&self, py: Python<'py>, ruled: Ruled<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (kind, tensors) = match ruled.known {
            Known::Fresh(tensor) => ("fresh", vec![tensor]),
            Known::View(tensor) => ("view", vec![tensor]),
            Known::Detached(tensor) => ("detached", vec![tensor]),
            Known::Several { views: true, items, .. } => ("views", items),
            Known::Several { container: Container::Tuple, items, .. } => ("tuple", items),
            Known::Several { container: Container::Named(class), items, .. } => (class, items),
            Known::Itself => ("itself", Vec::new()),
            Known::Changed { begins: true } => ("begins to require gradients", Vec::new()),
            Known::Changed { begins: false } => ("changed", Vec::new()),
        };
        let data = |tensor: Tensor<Extent>| {
            let dtype = self.0.rules.dtype_object(py, tensor.dtype);
            (dtype, tensor.shape.to_vec(), tensor.strides.to_vec(), tensor.requires_grad)
        };
        let tensors: Vec<_> = tensors.into_iter().map(data).collect();
        Ok((kind, tensors).into_pyobject(py)?.into_any())
    }

    /// An object as an operand.
    fn operand<'py>(&self, object: &Bound<'py, PyAny>) -> Operand<'py> {
        let all = || object.try_iter().into_iter().flatten().flatten().map(|item| self.operand(&item)).collect();
        let class = object.get_type();
        if class.is(&self.0.tensor) || class.is(&self.0.parameter) {
            return Operand::Graph { value: ValueId(0), example: object.clone(), shape: None };
        }
        if object.is_exact_instance_of::<PyTuple>() {
            return Operand::Tuple(all());
        }
        if object.is_exact_instance_of::<PyList>() {
            return Operand::List(all());
        }
        Operand::Known(object.clone())
    }
}
