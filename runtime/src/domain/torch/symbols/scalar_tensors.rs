//! Tensors without dimensions in the place of floats.
use crate::domain::torch::examples::layout::layout_of;
use crate::domain::torch::examples::sketch::Sketch;
use crate::domain::torch::library::Torch;
use crate::domain::torch::symbols::numbers::is_arithmetic;
use crate::domain::{CallWithNames, Callee};
use crate::ffi::callee;
use crate::names::{interned, name};
use pyo3::prelude::*;
use pyo3::types::PyString;

impl Torch {
    /// What makes the tensor for an operation on a tensor and a float. One with dimensions decides alone what class of numbers the result has;
    /// one without computes in its own.
    pub(in crate::domain::torch) fn scalar_tensor_for<'py>(
        &self,
        callee: &Callee<'py>,
        tensor: &Bound<'py, PyAny>,
    ) -> PyResult<Option<CallWithNames<'py>>> {
        let name = match callee {
            Callee::Function(function) => callee::name_of(function).into_owned(),
            Callee::Method(name) => name.clone(),
            Callee::Slot(_) | Callee::GetAttr(_) => return Ok(None),
        };
        let Some(layout) = layout_of(tensor).filter(|_| is_arithmetic(&name)) else {
            return Ok(None);
        };
        let py = tensor.py();
        let module = self.module.bind(py);
        let dtype = match tensor.cast::<Sketch>() {
            Ok(sketch) => self.attribute_of(py, sketch.get(), "dtype")?,
            Err(_) => Some(tensor.getattr(name!("dtype"))?),
        };
        let Some(dtype) = dtype else { return Ok(None) };
        let double = module.getattr(interned(py, "float64"))?;
        let is_plain = dtype.is(&double) || dtype.is(&module.getattr(interned(py, "float32"))?);
        let own = match layout.sizes.is_empty() {
            true if is_plain => dtype,
            false if dtype.getattr(interned(py, "is_floating_point"))?.is_truthy()? => double,
            _ => return Ok(None),
        };
        let function = module.getattr(interned(py, "scalar_tensor"))?;
        let place = PyString::new(py, "cpu").into_any();
        Ok(Some((function, vec![("dtype".to_owned(), own), ("device".to_owned(), place)])))
    }
}
