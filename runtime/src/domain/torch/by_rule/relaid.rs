//! Operations that give a tensor another layout in place: `t_`, `transpose_`, `squeeze_`, `unsqueeze_`, `as_strided_`.
use super::ruled::Ruled;
use crate::domain::torch::examples::sketch::Sketch;
use crate::domain::torch::graph_break::{CallResult, fault, refused_change};
use crate::domain::torch::meta::Meta;
use crate::domain::torch::shapes::Answer as Known;
use crate::domain::{Answer, Gives, Operand};
use pyo3::prelude::*;

/// Those of them that rules know.
pub(in crate::domain::torch) const RELAYING: &[&str] =
    &["as_strided_", "squeeze_", "swapaxes_", "swapdims_", "t_", "transpose_", "unsqueeze_"];

impl<'py> Meta<'_, 'py> {
    /// Such an operation, on a tensor that the graph has made: nothing is written, and other tensors in its memory stay as they are.
    pub(in crate::domain::torch) fn relay(
        &self,
        name: &str,
        target: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> CallResult<'py> {
        self.refuse_modes()?;
        let made = match args.first() {
            Some(Operand::Graph { value, example, .. }) => {
                example.cast::<Sketch>().ok().map(|made| (*value, made.get()))
            }
            _ => None,
        };
        let Some((value, made)) = made.filter(|(_, made)| made.class.is_none()) else {
            return Err(refused_change(name, "It changes what the tensor is, which is none that the graph has made."));
        };
        let Some(Ruled { known: Known::Relaid(tensor), modes, .. }) = self.ask(target, args, kwargs) else {
            return Err(refused_change(name, "It changes what the tensor is, and no rule says how."));
        };
        if !made.may_be_relaid(self.py, modes.grad) {
            return Err(refused_change(name, "Gradients follow what the tensor was."));
        }
        let example = Bound::new(self.py, made.relaid(self.py, tensor)).map_err(|error| fault(&error))?.into_any();
        let (target, args, kwargs) = (target.clone(), args.to_vec(), kwargs.to_vec());
        Ok(Answer::Change { target, args, kwargs, example, changes: vec![value], gives: Gives::Relaid(value) })
    }
}
