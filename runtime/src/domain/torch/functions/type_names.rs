//! What PyTorch's old names of types say of a tensor: `x.type()`, `isinstance(x, torch.FloatTensor)`.
use crate::domain::torch::examples::placed::place_of;
use crate::domain::torch::examples::sketch::Sketch;
use crate::domain::torch::graph_break::{CallResult, fault, stop};
use crate::domain::torch::library::Torch;
use crate::domain::torch::meta::Meta;
use crate::domain::{Answer, Operand};
use crate::ffi::libtorch::Quiet;
use crate::ffi::{callee, types};
use crate::names::name;
use pyo3::exceptions::PyNotImplementedError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Whether it is what `isinstance` asks of such a type.
pub(in crate::domain::torch) fn is_instance_check(callable: &Bound<'_, PyAny>) -> bool {
    types::is_c_class(&callable.get_type(), "method_descriptor")
        && callee::name_of(callable) == "__instancecheck__"
        && callee::owner_of(callable).is_some_and(|owner| types::is_c_class(&owner, "torch.tensortype"))
}

impl Torch {
    /// Whether a tensor is of a type.
    pub(in crate::domain::torch) fn is_of_type<'py>(
        &self,
        meta: &Meta<'_, 'py>,
        check: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
    ) -> CallResult<'py> {
        let [Operand::Known(class), Operand::Graph { example, .. }] = args else {
            return Err(stop("unsupported form of a PyTorch call", "isinstance", "It asks about one tensor."));
        };
        meta.refuse_modes()?;
        let answer = self.like(meta.py, example).and_then(|like| check.call1((class, like)));
        answer.map(Answer::Constant).map_err(|error| fault(&error))
    }

    /// The name of a tensor's type.
    pub(in crate::domain::torch) fn type_name<'py>(
        &self,
        meta: &Meta<'_, 'py>,
        example: &Bound<'py, PyAny>,
    ) -> CallResult<'py> {
        meta.refuse_modes()?;
        let answer = self.like(meta.py, example).and_then(|like| like.call_method0(name!("type")));
        answer.map(Answer::Constant).map_err(|error| fault(&error))
    }

    /// A tensor of the same type that holds nothing.
    fn like<'py>(&self, py: Python<'py>, example: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let known = match example.cast::<Sketch>() {
            Ok(sketch) => self.attribute_of(py, sketch.get(), "dtype")?,
            Err(_) => None,
        };
        let (named, _quiet) = (PyDict::new(py), Quiet::about([example]));
        named.set_item(name!("dtype"), known.map_or_else(|| example.getattr(name!("dtype")), Ok)?)?;
        let place = place_of(example).ok_or_else(|| PyNotImplementedError::new_err("the device is not known"))?;
        named.set_item(name!("device"), place.text())?;
        self.module.bind(py).getattr(name!("empty"))?.call((0,), Some(&named))
    }
}
