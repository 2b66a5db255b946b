//! `torch.nn.Parameter(…)`: a leaf of that class in the memory of another tensor.
use crate::domain::torch::examples::placed::place_of;
use crate::domain::torch::examples::sketch::Sketch;
use crate::domain::torch::graph_break::{CallResult, fault, stop};
use crate::domain::torch::library::Torch;
use crate::domain::torch::meta::Meta;
use crate::domain::torch::own::{MODULE, PARAMETER_OF};
use crate::domain::torch::shapes::Tensor;
use crate::domain::{Answer, Domain, Operand};
use crate::ffi::callee;
use crate::ffi::libtorch::Quiet;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::PyBool;

/// The static method of `Tensor` that gives a tensor of a class derived from it.
const MAKES: &str = "_make_subclass";

impl Torch {
    /// Whether it is that method.
    pub(in crate::domain::torch) fn makes_parameters(&self, callable: &Bound<'_, PyAny>) -> bool {
        callee::name_of(callable) == MAKES
            && self.tensor.bind(callable.py()).getattr(name!("_make_subclass")).is_ok_and(|known| known.is(callable))
    }

    /// A call of it, for a parameter of a plain tensor.
    pub(in crate::domain::torch) fn parameter_of<'py>(
        &self,
        meta: &Meta<'_, 'py>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> CallResult<'py> {
        let py = meta.py;
        let refused = |why: &str| Err(stop("tensor as an instance of another class", MAKES, why));
        let [Operand::Known(class), Operand::Graph { value, example, layout }, Operand::Known(requires)] = args else {
            return refused("It takes a class, a tensor of the graph, and a truth.");
        };
        let Some(requires) = requires.cast::<PyBool>().ok().filter(|_| kwargs.is_empty()) else {
            return refused("It takes a class, a tensor of the graph, and a truth.");
        };
        meta.refuse_modes()?;
        let is_plain = |class: &Bound<'py, PyAny>| class.is(&self.tensor) || class.is(&self.parameter);
        if !class.is(&self.parameter) || !self.is_tensor(example) || !is_plain(self.class_of(example).as_any()) {
            return refused("Only parameters of plain tensors are recorded.");
        }
        let inference = self.module.bind(py).call_method0(name!("is_inference_mode_enabled"));
        if inference.and_then(|on| on.is_truthy()).unwrap_or(true) || self.ambient.is_transforming(py).unwrap_or(true) {
            return refused("A mode or a transform decides what it does.");
        }
        let quiet = Quiet::about([example]);
        let known = self.rules.metadata(example).zip(place_of(example));
        drop(quiet);
        let Some((tensor, place)) = known.filter(|(tensor, _)| !requires.is_true() || tensor.dtype.is_float()) else {
            return refused("No rule knows the tensor, or PyTorch refuses it.");
        };
        let tensor = Tensor { requires_grad: requires.is_true(), ..tensor };
        let sketch = Sketch::leaf(tensor, &place).of_class(Some(self.parameter.clone_ref(py)));
        let made = || {
            let target = crate::ffi::modules::import(py, MODULE)?.getattr(PARAMETER_OF)?;
            PyResult::Ok((target, Bound::new(py, sketch)?.into_any()))
        };
        let (target, example_made) = made().map_err(|error| fault(&error))?;
        let tensor = Operand::Graph { value: *value, example: example.clone(), layout: layout.clone() };
        let args = vec![tensor, Operand::Known(requires.clone().into_any())];
        Ok(Answer::Node { target, args, kwargs: Vec::new(), example: example_made })
    }
}
