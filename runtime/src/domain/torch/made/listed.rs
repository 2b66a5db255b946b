//! Tensors that are made of lists of known numbers: whether PyTorch refuses these, it says itself. Kernels without contents look at none of them.
use super::{DEVICE, made_of};
use crate::domain::torch::examples::place::Place;
use crate::domain::torch::examples::placed::place_of;
use crate::domain::torch::graph_break::CallResult;
use crate::domain::torch::meta::Meta;
use crate::domain::{Answer, Operand};
use crate::ffi::libtorch::Quiet;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

impl<'py> Meta<'_, 'py> {
    /// What such a call raises, whatever contents are; `None`: nothing, or that is not known.
    pub(in crate::domain::torch) fn refused_list(
        &self,
        name: &str,
        target: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
    ) -> Option<CallResult<'py>> {
        let (tensor, data) = made_of(name, args)?;
        let data = self.folded(data).ok()?;
        let named = PyDict::new(self.py);
        for (name, value) in kwargs {
            let value = self.folded(value).ok()?;
            // Where a tensor has no contents, nobody looks at the numbers.
            if name == DEVICE && !value.is_none() && Place::named(&value)?.is_meta() {
                return None;
            }
            named.set_item(name, value).ok()?;
        }
        if tensor.is_some_and(|tensor| place_of(tensor).is_none_or(|place| place.is_meta())) {
            return None;
        }
        let args = || {
            named.set_item(DEVICE, "cpu")?;
            let like = |tensor: &Bound<'py, PyAny>| {
                let (named, _quiet) = (PyDict::new(self.py), Quiet::about([tensor]));
                named.set_item("dtype", tensor.getattr(name!("dtype"))?)?;
                named.set_item(DEVICE, "cpu")?;
                self.torch.module.bind(self.py).getattr(name!("empty"))?.call((0,), Some(&named))
            };
            let args: Vec<_> = tensor.map(like).transpose()?.into_iter().chain([data]).collect();
            PyTuple::new(self.py, args)
        };
        let args: PyResult<_> = args();
        let args = args.ok()?;
        target.call(args, Some(&named)).err().map(|error| Ok(Answer::Raised(error)))
    }
}
