//! Small tensors that stand for the operands of a call while its kernel runs: what it gives shows the type and the rank of its results.
use crate::domain::torch::examples::open::{Unread, Unsized, has_unsized};
use crate::domain::torch::examples::placed::place_of;
use crate::domain::torch::examples::sketch::Sketch;
use crate::domain::torch::graph_break::{fault, stop};
use crate::domain::torch::library::Torch;
use crate::domain::torch::meta::{Meta, plain};
use crate::domain::{Domain, Operand, unheard};
use crate::graph_break::Break;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyDict, PyFloat, PyInt, PyList, PySlice, PyTuple};

/// Tensors of more elements are stood for by smaller ones.
const ELEMENTS: i64 = 1 << 16;

/// The length of a dimension of those, and of one that is not known.
pub(super) const LENGTH: i64 = 2;

/// What stands for operands.
pub(super) struct Sample<'py> {
    pub(super) args: Bound<'py, PyTuple>,
    pub(super) named: Bound<'py, PyDict>,
    /// The tensors among them.
    pub(super) tensors: Vec<Bound<'py, PyAny>>,
}

impl Sample<'_> {
    /// Whether a result lies in the memory of an operand.
    pub(super) fn shares_memory(&self, made: &Bound<'_, PyAny>) -> PyResult<bool> {
        let address = memory_of(made)?;
        for tensor in &self.tensors {
            if tensor.is(made) || address != 0 && memory_of(tensor)? == address {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Where a tensor lies in memory; 0 where it has no elements.
fn memory_of(tensor: &Bound<'_, PyAny>) -> PyResult<usize> {
    tensor.call_method0("untyped_storage")?.call_method0("data_ptr")?.extract()
}

/// Makes it.
struct Sampler<'a, 'b, 'py> {
    meta: &'a Meta<'b, 'py>,
    /// Whether all dimensions are short, so that those that are not known fit them.
    short: bool,
    /// Whether dimensions are as long as is known.
    keeps: bool,
    /// The function that makes tensors.
    contents: &'static str,
    /// What numbers are that nobody knows.
    number: i64,
    tensors: Vec<Bound<'py, PyAny>>,
}

impl<'py> Meta<'_, 'py> {
    /// What stands for the operands of a call.
    pub(super) fn sample(
        &self,
        args: &[Operand<'py>],
        kwargs: &[(String, Operand<'py>)],
        (contents, number, keeps): (&'static str, i64, bool),
    ) -> Result<Sample<'py>, Box<Break>> {
        let short = args.iter().chain(kwargs.iter().map(|(_, value)| value)).any(has_unsized) && !keeps;
        let mut sampler = Sampler { meta: self, short, keeps, contents, number, tensors: Vec::new() };
        let positional = unheard(|| sampler.all(args))?;
        let named = PyDict::new(self.py);
        for (name, value) in kwargs {
            let value = unheard(|| sampler.object(value))?;
            named.set_item(name, value).map_err(|error| fault(&error))?;
        }
        let args = PyTuple::new(self.py, positional).map_err(|error| fault(&error))?;
        Ok(Sample { args, named, tensors: sampler.tensors })
    }
}

impl<'py> Sampler<'_, '_, 'py> {
    fn all(&mut self, operands: &[Operand<'py>]) -> Result<Vec<Bound<'py, PyAny>>, Box<Break>> {
        operands.iter().map(|operand| self.object(operand)).collect()
    }

    fn object(&mut self, operand: &Operand<'py>) -> Result<Bound<'py, PyAny>, Box<Break>> {
        let py = self.meta.py;
        match operand {
            Operand::Graph { example, .. } => self.of_example(example),
            Operand::Known(object) => plain(object),
            Operand::Number { hint, .. } => Ok(hint.clone()),
            Operand::Tuple(items) => Ok(PyTuple::new(py, self.all(items)?).map_err(|error| fault(&error))?.into_any()),
            Operand::List(items) => Ok(PyList::new(py, self.all(items)?).map_err(|error| fault(&error))?.into_any()),
            Operand::Slice(parts) => {
                let [start, end, step] = [self.object(&parts[0])?, self.object(&parts[1])?, self.object(&parts[2])?];
                py.get_type::<PySlice>().call1((start, end, step)).map_err(|error| fault(&error))
            }
            Operand::Foreign(_) => Err(other()),
        }
    }

    fn of_example(&mut self, example: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>, Box<Break>> {
        if let Ok(unread) = example.cast::<Unread>() {
            let class = unread.get().class.bind(self.meta.py);
            return class.call1((self.number,)).map_err(|error| fault(&error));
        }
        let shape = match example.cast::<Unsized>() {
            Ok(tensor) => {
                let sizes = tensor.get().sizes.as_deref().ok_or_else(other)?;
                sizes.iter().map(|size| size.filter(|_| self.keeps).unwrap_or(LENGTH)).collect()
            }
            Err(_) => self.shape_of(example)?,
        };
        let made = self.filled(example, shape).map_err(|error| fault(&error))?;
        self.tensors.push(made.clone());
        Ok(made)
    }

    /// The shape of what stands for a plain tensor on the CPU.
    fn shape_of(&self, example: &Bound<'py, PyAny>) -> Result<Vec<i64>, Box<Break>> {
        let torch = self.meta.torch;
        let class = torch.class_of(example);
        let is_plain = torch.is_tensor(example)
            && (class.is(&torch.tensor) || class.is(&torch.parameter))
            && is_strided(torch, example).map_err(|error| fault(&error))?
            && place_of(example).is_some_and(|place| place.is_cpu());
        if !is_plain {
            return Err(other());
        }
        let shape = example.getattr(name!("shape")).and_then(|shape| shape.extract::<Vec<i64>>());
        let shape = shape.map_err(|error| fault(&error))?;
        let count = shape.iter().try_fold(1, |count: i64, length| count.checked_mul(*length));
        let keeps = !self.short && count.is_some_and(|count| count <= ELEMENTS);
        Ok(if keeps { shape } else { shape.into_iter().map(|length| length.min(LENGTH)).collect() })
    }

    fn filled(&self, example: &Bound<'py, PyAny>, shape: Vec<i64>) -> PyResult<Bound<'py, PyAny>> {
        let named = PyDict::new(self.meta.py);
        named.set_item(name!("dtype"), example.getattr(name!("dtype"))?)?;
        named.set_item(name!("requires_grad"), example.getattr(name!("requires_grad"))?)?;
        named.set_item(name!("device"), "cpu")?;
        self.meta.torch.module.bind(self.meta.py).getattr(self.contents)?.call((shape,), Some(&named))
    }
}

/// Whether a tensor lies in memory by strides, and its elements are themselves.
pub(super) fn is_strided(torch: &Torch, tensor: &Bound<'_, PyAny>) -> PyResult<bool> {
    if tensor.is_instance_of::<Sketch>() {
        return Ok(true);
    }
    let strided = torch.module.bind(tensor.py()).getattr(name!("strided"))?;
    if !tensor.getattr(name!("layout"))?.is(&strided) || tensor.getattr(name!("is_quantized"))?.is_truthy()? {
        return Ok(false);
    }
    let is_other = |question| tensor.call_method0(question)?.is_truthy();
    Ok(!is_other(name!("is_conj"))? && !is_other(name!("is_neg"))?)
}

/// Whether an object is a plain number of Python's.
pub(super) fn is_number(object: &Bound<'_, PyAny>) -> bool {
    object.is_exact_instance_of::<PyInt>()
        || object.is_exact_instance_of::<PyFloat>()
        || object.is_exact_instance_of::<PyBool>()
        || object.is_exact_instance_of::<PyComplex>()
}

fn other() -> Box<Break> {
    let why = "Only plain tensors on the CPU are stood for.";
    stop("PyTorch operation that needs contents or fails", "operand", why)
}
