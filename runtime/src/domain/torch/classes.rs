//! Classes of tensors: tensors of the graph as instances of derived ones, how they are hashed.
use super::examples::placed::place_of;
use super::examples::sketch::Sketch;
use super::graph_break::{CallResult, heard_without_contents, stop};
use super::library::Torch;
use super::meta::Meta;
use super::named::module_of;
use crate::domain::{Answer, Operand};
use crate::ffi::libtorch::Quiet;
use crate::ffi::types;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::PyType;

impl Torch {
    /// Whether a class of tensors has their own `__hash__`, which gives the `id()`.
    pub(in crate::domain::torch) fn hashes_by_id(&self, class: &Bound<'_, PyType>) -> bool {
        let found = class.getattr(name!("__hash__"));
        let own = self.tensor.bind(class.py()).getattr(name!("__hash__"));
        found.is_ok_and(|found| {
            module_of(&found).is_some_and(|module| module == "torch._tensor") && own.is_ok_and(|own| own.is(&found))
        })
    }
}

impl<'py> Meta<'_, 'py> {
    /// `tensor.as_subclass(class)`: the same memory, with gradients.
    pub(super) fn as_class(
        &self,
        target: Bound<'py, PyAny>,
        example: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
    ) -> CallResult<'py> {
        const KIND: &str = "tensor as an instance of another class";
        let [_, Operand::Known(class)] = args else {
            return Err(stop(KIND, "as_subclass", "It takes a class."));
        };
        let class = class.cast::<PyType>().ok().filter(|class| self.is_class_of_tensors(class));
        let Some(class) = class else {
            return Err(stop(KIND, "as_subclass", "Its instances do not do what tensors do."));
        };
        self.refuse_modes()?;
        let rules = &self.torch.rules;
        let quiet = Quiet::about([example]);
        let known = rules.metadata(example).zip(rules.modes(self.py)).zip(place_of(example));
        drop(quiet);
        let Some(((mut tensor, modes), place)) =
            known.filter(|_| !self.torch.ambient.is_transforming(self.py).unwrap_or(true))
        else {
            return Err(stop(KIND, types::name(class), "No rule knows the tensor."));
        };
        if place.is_meta() && self.torch.is_told_of_calls(class) {
            return Err(heard_without_contents(class));
        }
        tensor.requires_grad &= modes.grad;
        let kept = (!class.is(&self.torch.tensor)).then(|| class.clone().unbind());
        let sketch = Sketch::view(example, tensor, &place, modes.grad, !modes.grad).of_class(kept);
        let example = Bound::new(self.py, sketch).map_err(|error| super::graph_break::fault(&error))?.into_any();
        Ok(Answer::Node { target, args: args.to_vec(), kwargs: Vec::new(), example })
    }

    fn is_class_of_tensors(&self, class: &Bound<'py, PyType>) -> bool {
        class.is(&self.torch.tensor) || self.torch.is_recorded_subclass(class)
    }
}
