//! `backward`: a node, where all that gradients go through is in the graph, up to leaves. It is tried on what stands for the tensors.
use super::gradients::{is_cut, is_made_here, other};
use super::natives;
use crate::domain::torch::graph_break::{CallResult, fault};
use crate::domain::torch::library::Torch;
use crate::domain::torch::meta::Meta;
use crate::domain::{Answer, Operand};
use crate::ffi::callee;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// The attribute that holds the gradient of a leaf.
pub(in crate::domain::torch) const GRADIENT: &str = "grad";

/// The name of the function and of the method.
const BACKWARD: &str = "backward";

/// Attributes of leaves that hold functions of the program.
const HOOKS: &[&str] = &["_backward_hooks", "_post_accumulate_grad_hooks"];

/// Names of the parameters: those of the method, then those of the function that differ.
const PARAMETERS: &[&str] = &["self", "gradient", "retain_graph", "create_graph", "inputs"];
const OF_FUNCTION: &[&str] = &["tensors", "grad_tensors", "retain_graph", "create_graph", "grad_variables", "inputs"];

impl Torch {
    /// Whether it is `Tensor.backward` or `torch.autograd.backward`.
    pub(in crate::domain::torch) fn is_backward(&self, callable: &Bound<'_, PyAny>) -> bool {
        let py = callable.py();
        let is = |known: PyResult<Bound<'_, PyAny>>| known.is_ok_and(|known| known.is(callable));
        callee::name_of(callable) == BACKWARD
            && (is(self.tensor.bind(py).getattr(name!("backward")))
                || is(self.module.bind(py).getattr(name!("autograd")).and_then(|room| room.getattr(name!("backward")))))
    }

    /// The attributes of a tensor that hold functions which see its gradient.
    pub(in crate::domain::torch) fn attributes_of_hooks(&self, object: &Bound<'_, PyAny>) -> &'static [&'static str] {
        let requires = || self.rules.metadata(object).is_some_and(|tensor| tensor.requires_grad);
        if self.is_tensor(object) && requires() { HOOKS } else { &[] }
    }

    /// A call of it. What stands for the tensors knows how they were computed where the graph has made them.
    pub(in crate::domain::torch) fn backward<'py>(
        &self,
        meta: &Meta<'_, 'py>,
        function: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> CallResult<'py> {
        let natively = || Err(natives::break_at(function).unwrap_or_else(other));
        let is_method =
            function.getattr(name!("__qualname__")).is_ok_and(|name| name.eq("Tensor.backward").unwrap_or(false));
        let parameters = if is_method { PARAMETERS } else { OF_FUNCTION };
        let named =
            parameters.iter().copied().zip(args).chain(kwargs.iter().map(|(name, value)| (name.as_str(), value)));
        let (mut outputs, is_watched) = (None, self.is_anomaly_looked_for(meta.py)?);
        for (name, operand) in named {
            let is_plain = match name {
                "self" | "tensors" => outputs.replace(operand).is_none() && is_made_here(operand) && !is_cut(operand),
                "create_graph" => {
                    matches!(operand, Operand::Known(known) if known.is(pyo3::types::PyBool::new(meta.py, false)))
                }
                "retain_graph" => matches!(operand, Operand::Known(_)),
                "gradient" | "grad_tensors" | "inputs" => is_none(operand) || has_tensors(operand),
                _ => false,
            };
            if !is_plain {
                return natively();
            }
        }
        if outputs.is_none() || is_watched || args.len() > parameters.len() {
            return natively();
        }
        meta.refuse_modes()?;
        let positional = args.iter().map(|arg| meta.object(arg)).collect::<Result<Vec<_>, _>>()?;
        let keywords = PyDict::new(meta.py);
        for (name, value) in kwargs {
            keywords.set_item(name, meta.object(value)?).map_err(|error| fault(&error))?;
        }
        let tried = PyTuple::new(meta.py, positional).and_then(|args| function.call(args, Some(&keywords)));
        match tried {
            Ok(_) => Ok(Answer::Backward { target: function.clone(), args: args.to_vec(), kwargs: kwargs.to_vec() }),
            Err(_) => natively(),
        }
    }

    /// Whether PyTorch looks for numbers that are none on the way back: then that may raise.
    pub(in crate::domain::torch) fn is_anomaly_looked_for(
        &self,
        py: Python<'_>,
    ) -> Result<bool, Box<crate::graph_break::Break>> {
        let asked = self.module.bind(py).call_method0(name!("is_anomaly_enabled"));
        asked.and_then(|asked| asked.is_truthy()).map_err(|error| fault(&error))
    }
}

fn is_none(operand: &Operand<'_>) -> bool {
    matches!(operand, Operand::Known(known) if known.is_none())
}

/// Whether it is a tensor, or a sequence of some, or of nothing in the place of some.
fn has_tensors(operand: &Operand<'_>) -> bool {
    match operand {
        Operand::Graph { .. } => true,
        Operand::Tuple(items) | Operand::List(items) => items.iter().all(|item| is_none(item) || has_tensors(item)),
        Operand::Known(_) | Operand::Number { .. } | Operand::Slice(_) | Operand::Foreign(_) => false,
    }
}
