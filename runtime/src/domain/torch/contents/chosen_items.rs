//! Items of tensors that integers choose which contents decide: whichever they are, what is chosen has the same metadata.
use crate::domain::torch::examples::open::{Unread, has_open, has_unsized};
use crate::domain::torch::meta::Meta;
use crate::domain::{Answer, Operand};
use crate::ffi::callee;
use pyo3::prelude::*;
use pyo3::types::PyInt;

impl<'py> Meta<'_, 'py> {
    /// `tensor[n]`, `tensor[n, 1:]`, `tensor[[n, m]]`; `None`: sizes are open, or there is nothing to choose from.
    pub(super) fn items_of_open(&self, target: &Bound<'py, PyAny>, args: &[Operand<'py>]) -> Option<Answer<'py>> {
        let [tensor, index] = args else { return None };
        if has_open(tensor) || has_unsized(tensor) {
            return None;
        }
        let known = [tensor.clone(), self.with_first_items(index)?];
        let mut answer = self.perform(&callee::name_of(target), target.clone(), &known, &[]).ok()?;
        match &mut answer {
            Answer::Node { args: held, .. } => {
                *held = args.to_vec();
                Some(answer)
            }
            _ => None,
        }
    }

    /// An index that chooses the first items where it is not known which; `None`: it is another one.
    fn with_first_items(&self, index: &Operand<'py>) -> Option<Operand<'py>> {
        match index {
            Operand::Graph { example, .. } => {
                let unread = example.cast::<Unread>().ok()?;
                let is_int = unread.get().class.bind(self.py).is(self.py.get_type::<PyInt>());
                is_int.then(|| Operand::Known(PyInt::new(self.py, 0).into_any()))
            }
            Operand::Tuple(items) => items.iter().map(|item| self.with_first_items(item)).collect::<Option<_>>().map(Operand::Tuple),
            Operand::List(items) => items.iter().map(|item| self.with_first_items(item)).collect::<Option<_>>().map(Operand::List),
            other => (!has_open(other) && !has_unsized(other)).then(|| other.clone()),
        }
    }
}
