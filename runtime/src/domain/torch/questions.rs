//! What a tensor of the graph is asked about its metadata.
use super::examples::sketch::{Extent, Sketch};
use super::graph_break::fault;
use super::library::Torch;
use super::shapes::{Dtype, MemoryFormat, Tensor};
use crate::domain::Operand;
use crate::ffi::callee;
use crate::graph_break::Break;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyTuple};

impl Torch {
    /// What an attribute of a sketch is; `None`: the tensor that stands for it is asked.
    pub(super) fn attribute_of<'py>(
        &self,
        py: Python<'py>,
        sketch: &Sketch,
        name: &str,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let tensor = sketch.fixed();
        Ok(match name {
            "shape" => Some(self.size_object(py, &tensor.shape)?),
            "dtype" => self.rules.dtype_object(py, tensor.dtype),
            "ndim" => Some(tensor.rank().into_pyobject(py)?.into_any()),
            "requires_grad" => Some(truth(py, sketch.requires_grad(py))),
            "is_leaf" => Some(truth(py, sketch.is_leaf(py))),
            "grad_fn" if sketch.is_leaf(py) => Some(py.None().into_bound(py)),
            _ => None,
        })
    }

    /// What a method gives that asks for metadata of its only tensor; `None`: PyTorch is asked as about anything else.
    pub(super) fn metadata_answer<'py>(
        &self,
        py: Python<'py>,
        target: &Bound<'py, PyAny>,
        args: &[Operand<'py>],
    ) -> Result<Option<Bound<'py, PyAny>>, Box<Break>> {
        let Some(Operand::Graph { example, .. }) = args.first() else { return Ok(None) };
        let Ok(sketch) = example.cast::<Sketch>() else { return self.answer_of_tensor(target, example, &args[1..]) };
        let (tensor, name) = (sketch.get().fixed(), callee::name_of(target));
        let answer = match &args[1..] {
            [] => self.whole_answer(py, &name, tensor),
            [Operand::Known(dim)] => Ok(dim.extract().ok().and_then(|dim| length(py, &name, tensor, dim))),
            _ => Ok(None),
        };
        answer.map_err(|error| fault(&error))
    }

    /// A tensor from outside tells by itself, and gives what its contents do not change.
    fn answer_of_tensor<'py>(
        &self,
        target: &Bound<'py, PyAny>,
        tensor: &Bound<'py, PyAny>,
        rest: &[Operand<'py>],
    ) -> Result<Option<Bound<'py, PyAny>>, Box<Break>> {
        let mut args = vec![tensor.clone()];
        for operand in rest {
            match operand {
                Operand::Known(number) if number.is_exact_instance_of::<PyInt>() => args.push(number.clone()),
                _ => return Ok(None),
            }
        }
        // An error is PyTorch's to find.
        Ok(PyTuple::new(tensor.py(), args).and_then(|args| target.call1(args)).ok())
    }

    fn whole_answer<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        tensor: &Tensor<Extent>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(match name {
            "size" => Some(self.size_object(py, &tensor.shape)?),
            "stride" => Some(PyTuple::new(py, tensor.strides.iter())?.into_any()),
            "dim" | "ndimension" => Some(tensor.rank().into_pyobject(py)?.into_any()),
            "numel" | "nelement" => match tensor.numel() {
                Ok(count) => Some(count.into_pyobject(py)?.into_any()),
                Err(_) => None,
            },
            "is_contiguous" => tensor.is_contiguous(MemoryFormat::Contiguous).ok().map(|answer| truth(py, answer)),
            "is_floating_point" => Some(truth(py, tensor.dtype.is_float())),
            "is_signed" => Some(truth(py, !matches!(tensor.dtype, Dtype::Bool | Dtype::U8))),
            "is_complex" | "is_conj" | "is_neg" => Some(truth(py, false)),
            _ => None,
        })
    }

    /// A `torch.Size`.
    fn size_object<'py>(&self, py: Python<'py>, shape: &[Extent]) -> PyResult<Bound<'py, PyAny>> {
        self.module.bind(py).getattr(name!("Size"))?.call1((PyTuple::new(py, shape)?,))
    }
}

/// `size(dim)`, `stride(dim)`.
fn length<'py>(py: Python<'py>, name: &str, tensor: &Tensor<Extent>, dim: i64) -> Option<Bound<'py, PyAny>> {
    let sizes = match name {
        "size" => &tensor.shape,
        "stride" => &tensor.strides,
        _ => return None,
    };
    let length = sizes.get(tensor.dim(dim).ok()?)?;
    length.into_pyobject(py).map(Bound::into_any).ok()
}

fn truth(py: Python<'_>, value: bool) -> Bound<'_, PyAny> {
    PyBool::new(py, value).to_owned().into_any()
}
