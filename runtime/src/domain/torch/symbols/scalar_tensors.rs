//! Tensors without dimensions in the place of floats.
use crate::domain::torch::examples::layout::layout_of;
use crate::domain::torch::examples::sketch::Sketch;
use crate::domain::torch::library::Torch;
use crate::domain::torch::numbers::scalar_places;
use crate::domain::{CallWithNames, Callee};
use crate::names::{interned, name};
use pyo3::prelude::*;
use pyo3::types::PyString;

/// Classes of integers.
const INTEGERS: [&str; 5] = ["int64", "int32", "int16", "int8", "uint8"];

impl Torch {
    /// What makes the tensor for an operation on a tensor and a float. One with dimensions decides alone what class of numbers the result has;
    /// one without computes in its own. Integers become floats of the default class.
    pub(in crate::domain::torch) fn scalar_tensor_for<'py>(
        &self,
        callee: &Callee<'py>,
        tensor: &Bound<'py, PyAny>,
    ) -> PyResult<Option<CallWithNames<'py>>> {
        let Some(layout) = layout_of(tensor) else { return Ok(None) };
        let py = tensor.py();
        let module = self.module.bind(py);
        let dtype = match tensor.cast::<Sketch>() {
            Ok(sketch) => self.attribute_of(py, sketch.get(), "dtype")?,
            Err(_) => Some(tensor.getattr(name!("dtype"))?),
        };
        let Some(dtype) = dtype else { return Ok(None) };
        let double = module.getattr(interned(py, "float64"))?;
        let is_plain = dtype.is(&double) || dtype.is(&module.getattr(interned(py, "float32"))?);
        let is_integer = INTEGERS.iter().any(|name| module.getattr(*name).is_ok_and(|known| dtype.is(&known)));
        let own = match layout.sizes.is_empty() {
            _ if is_integer && scalar_places(callee).iter().any(|place| place.checks_size) => return Ok(None),
            _ if is_integer => module.call_method0(interned(py, "get_default_dtype"))?,
            true if is_plain => dtype,
            false if dtype.getattr(interned(py, "is_floating_point"))?.is_truthy()? => double,
            _ => return Ok(None),
        };
        let function = module.getattr(interned(py, "scalar_tensor"))?;
        let place = PyString::new(py, "cpu").into_any();
        Ok(Some((function, vec![("dtype".to_owned(), own), ("device".to_owned(), place)])))
    }
}
