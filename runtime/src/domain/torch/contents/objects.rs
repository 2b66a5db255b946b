//! Numbers that nobody knows before the graph has run, for they are of the objects that it makes: where contents lie, how often these were
//! changed in place.
use super::answer::needs;
use crate::domain::torch::examples::open::Unread;
use crate::domain::torch::graph_break::{CallResult, fault};
use crate::domain::torch::meta::Meta;
use crate::domain::torch::own::{MODULE, OFFSET_OF, VERSION_OF};
use crate::domain::{Answer, Dispatching, Domain, Operand};
use crate::names::interned;
use pyo3::prelude::*;
use pyo3::types::PyInt;

impl<'py> Meta<'_, 'py> {
    /// A node for one of the project's functions that gives such a number of a tensor.
    pub(in crate::domain::torch) fn of_object(&self, function: &str, tensor: &Operand<'py>) -> CallResult<'py> {
        self.refuse_modes()?;
        let torch = self.torch;
        let Operand::Graph { example, .. } = tensor else { return Err(needs(function)) };
        let class = torch.class_of(example);
        let is_known = class.is(&torch.tensor) || class.is(&torch.parameter);
        // Only PyTorch counts changes of wrappers, and knows where they would begin.
        let is_wrapper = || [VERSION_OF, OFFSET_OF].contains(&function) && torch.dispatches(&class);
        let is_plain = torch.is_tensor(example) && (is_known || is_wrapper());
        // What a transform has wrapped lies nowhere.
        if !is_plain || torch.ambient.is_transforming(self.py).unwrap_or(true) {
            return Err(needs(function));
        }
        let made = || {
            let target = crate::ffi::modules::import(self.py, MODULE)?.getattr(interned(self.py, function))?;
            let unread = Unread { class: self.py.get_type::<PyInt>().unbind() };
            PyResult::Ok((target, Bound::new(self.py, unread)?.into_any()))
        };
        let (target, example) = made().map_err(|error| fault(&error))?;
        Ok(Answer::Node { target, args: vec![tensor.clone()], kwargs: Vec::new(), example })
    }
}
