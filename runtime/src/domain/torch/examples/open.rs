//! What a trace has in the place of results that nobody knows before the graph has run.
use super::sketch::PRIORITY;
use crate::domain::Operand;
pub(in crate::domain::torch) use crate::domain::Unread;
use crate::ffi::types;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple, PyType};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// A tensor of the graph, on the CPU, whose sizes contents decide.
#[pyclass(frozen, module = "slotrt")]
#[allow(missing_debug_implementations)]
pub(in crate::domain::torch) struct Unsized {
    pub(in crate::domain::torch) dtype: Py<PyAny>,
    /// Of each dimension, how long it is whatever the contents; `None` where they decide even how many there are.
    pub(in crate::domain::torch) sizes: Option<Box<[Option<i64>]>>,
    /// Since when it was made, or since a change in place.
    required: AtomicBool,
    /// Whether it may lie in the memory of another tensor, or another one in its memory.
    is_shared: AtomicBool,
}

impl Unsized {
    /// A tensor that the graph makes.
    pub(in crate::domain::torch) fn new(
        dtype: Py<PyAny>,
        sizes: Option<Box<[Option<i64>]>>,
        required: bool,
        is_shared: bool,
    ) -> Self {
        Self { dtype, sizes, required: AtomicBool::new(required), is_shared: AtomicBool::new(is_shared) }
    }

    /// How many dimensions it has; `None` where that depends on contents, too.
    pub(in crate::domain::torch) fn rank(&self) -> Option<usize> {
        self.sizes.as_deref().map(<[_]>::len)
    }

    /// Whether gradients are required of it.
    pub(in crate::domain::torch) fn required(&self) -> bool {
        self.required.load(Relaxed)
    }

    /// Notes that another tensor may lie in its memory.
    pub(in crate::domain::torch) fn share(&self) {
        self.is_shared.store(true, Relaxed);
    }

    /// From now on gradients are required of it; `false` where they would be of other tensors, too.
    pub(in crate::domain::torch) fn begin_gradients(&self) -> bool {
        let alone = !self.is_shared.load(Relaxed);
        if alone {
            self.required.store(true, Relaxed);
        }
        alone
    }
}

/// What those ask who ask a tensor.
#[pymethods]
impl Unsized {
    #[getter]
    fn dtype(&self, py: Python<'_>) -> Py<PyAny> {
        self.dtype.clone_ref(py)
    }

    #[getter]
    fn requires_grad(&self) -> bool {
        self.required()
    }

    #[getter]
    fn __array_priority__(&self) -> f64 {
        PRIORITY
    }

    #[getter]
    fn is_leaf(&self) -> bool {
        !self.required()
    }
}

/// Whether an example is one of them, or holds one.
pub(in crate::domain::torch) fn is_open(example: &Bound<'_, PyAny>) -> bool {
    let holds = || example.try_iter().into_iter().flatten().flatten().any(|item| is_open(&item));
    let is_sequence = example.is_instance_of::<PyTuple>() || example.is_instance_of::<PyList>();
    example.is_instance_of::<Unsized>() || example.is_instance_of::<Unread>() || is_sequence && holds()
}

/// Whether an operand is one of them, or holds one.
pub(in crate::domain::torch) fn has_open(operand: &Operand<'_>) -> bool {
    any_of(operand, &is_open)
}

/// Whether an operand is, or holds, a tensor without sizes.
pub(in crate::domain::torch) fn has_unsized(operand: &Operand<'_>) -> bool {
    any_of(operand, &|example| example.is_instance_of::<Unsized>())
}

/// Whether an operand is, or holds, a number that contents decide.
pub(in crate::domain::torch) fn has_unread(operand: &Operand<'_>) -> bool {
    any_of(operand, &|example| example.is_instance_of::<Unread>())
}

fn any_of(operand: &Operand<'_>, is: &dyn Fn(&Bound<'_, PyAny>) -> bool) -> bool {
    match operand {
        Operand::Graph { example, .. } => is(example),
        Operand::Tuple(items) | Operand::List(items) => items.iter().any(|item| any_of(item, is)),
        Operand::Slice(parts) => parts.iter().any(|part| any_of(part, is)),
        Operand::Known(_) | Operand::Number { .. } | Operand::Foreign(_) => false,
    }
}

/// The class of what such an example stands for, where `tensor` is that of tensors; `None`: it is another example.
pub(in crate::domain::torch) fn class_of<'py>(
    example: &Bound<'py, PyAny>,
    tensor: &Py<PyType>,
) -> Option<Bound<'py, PyType>> {
    let py = example.py();
    if example.is_instance_of::<Unsized>() {
        return Some(tensor.bind(py).clone());
    }
    crate::domain::class_of_unread(example)
}

/// Such an example in words; `None`: it is another one.
pub(in crate::domain::torch) fn description(example: &Bound<'_, PyAny>) -> Option<String> {
    let py = example.py();
    if let Ok(tensor) = example.cast::<Unsized>() {
        let dtype = types::text(tensor.get().dtype.bind(py));
        let Some(sizes) = &tensor.get().sizes else {
            return Some(format!("Tensor[{dtype}, ? dimensions of unknown size]"));
        };
        let length = |size: &Option<i64>| size.map_or_else(|| "?".to_owned(), |size| size.to_string());
        let sizes: Vec<_> = sizes.iter().map(length).collect();
        return Some(format!("Tensor[{dtype}, sizes ({})]", sizes.join(", ")));
    }
    crate::domain::description_of_unread(example)
}
