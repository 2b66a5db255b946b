//! Guards on tensors of which some sizes are left open.
use crate::domain::torch::metadata::guarded;
use crate::ffi::libtorch::TensorWords;
use crate::guard::DomainCheck;
use crate::symbol::{Layout, Stride, follow};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};
use std::sync::OnceLock;

/// Places in what [`metadata`] gives.
const SHAPE: usize = 1;
const STRIDES: usize = 2;

/// From what [`metadata`] gives.
fn layout(metadata: &Bound<'_, PyTuple>) -> PyResult<Layout<i64>> {
    let read = |place: usize| metadata.get_item(place)?.extract::<Vec<i64>>().map(Into::into);
    Ok(Layout { sizes: read(SHAPE)?, strides: read(STRIDES)? })
}

/// Whether all but sizes and strides is the same.
fn same_rest(one: &Bound<'_, PyTuple>, other: &Bound<'_, PyTuple>) -> PyResult<bool> {
    if one.len() != other.len() {
        return Ok(false);
    }
    for index in (0..one.len()).filter(|index| ![SHAPE, STRIDES].contains(index)) {
        if !one.get_item(index)?.eq(other.get_item(index)?)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The dimensions in which the sizes differ, where nothing else does.
pub(in crate::domain::torch) fn other_sizes(
    value: &Bound<'_, PyAny>,
    expected: &Bound<'_, PyTuple>,
) -> PyResult<Vec<usize>> {
    let now = guarded(value)?;
    if !same_rest(&now, expected)? {
        return Ok(Vec::new());
    }
    let (now, then) = (layout(&now)?, layout(expected)?);
    if now.sizes.len() != then.sizes.len() {
        return Ok(Vec::new());
    }
    Ok((0..now.sizes.len()).filter(|index| now.sizes[*index] != then.sizes[*index]).collect())
}

/// What the state of the condition is written as.
pub(in crate::domain::torch) const OPEN_SIZES: &str = "open sizes";

/// That a tensor is like another one, but for some sizes, which are at least 2, and the strides that follow from sizes.
#[derive(Debug)]
pub(in crate::domain::torch) struct OpenSizes {
    class: Py<PyType>,
    metadata: Py<PyTuple>,
    sizes: Box<[i64]>,
    plan: Box<[Stride]>,
    open: Box<[bool]>,
    text: String,
    /// The words of a tensor like this one, once one was found; `None`: PyTorch does not tell.
    words: OnceLock<Option<TensorWords>>,
}

impl OpenSizes {
    /// For tensors like `example`.
    pub(in crate::domain::torch) fn new(example: &Bound<'_, PyAny>, open: &[bool], plan: &[Stride]) -> PyResult<Self> {
        Self::with(example.get_type().unbind(), guarded(example)?, open, plan)
    }

    /// From its state: class, metadata, which sizes are open, how strides are known.
    pub(in crate::domain::torch) fn of_state(state: &Bound<'_, PyAny>) -> PyResult<Self> {
        type State<'py> = (Bound<'py, PyType>, Bound<'py, PyTuple>, Vec<bool>, Vec<(bool, i64)>);
        let (class, metadata, open, plan): State<'_> = state.extract()?;
        let rank = layout(&metadata)?.sizes.len();
        let stride = |(around, number): (bool, i64)| match around {
            true => usize::try_from(number).ok().filter(|dimension| *dimension < rank).map(Stride::Around),
            false => Some(Stride::Fixed(number)),
        };
        let plan: Option<Vec<Stride>> = plan.into_iter().map(stride).collect();
        let plan = plan.filter(|plan| plan.len() == rank && open.len() == rank);
        let plan = plan.ok_or_else(|| PyValueError::new_err("sizes and strides do not fit together"))?;
        Self::with(class.unbind(), metadata, &open, &plan)
    }

    fn with(class: Py<PyType>, metadata: Bound<'_, PyTuple>, open: &[bool], plan: &[Stride]) -> PyResult<Self> {
        let known = layout(&metadata)?.sizes;
        let sizes = known.iter().zip(open).map(|(size, open)| match open {
            true => ">= 2".to_owned(),
            false => size.to_string(),
        });
        let sizes = sizes.collect::<Vec<_>>().join(", ");
        let text = format!("is a tensor of sizes ({sizes}), else as {}", metadata.repr()?);
        let (metadata, words) = (metadata.unbind(), OnceLock::new());
        Ok(Self { class, metadata, sizes: known, plan: plan.into(), open: open.into(), text, words })
    }

    fn agrees(&self, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (now, then) = (guarded(value)?, self.metadata.bind(value.py()));
        if !same_rest(&now, then)? {
            return Ok(false);
        }
        let now = layout(&now)?;
        Ok(self.fit(&now.sizes, &now.strides))
    }

    /// Whether sizes and strides are such.
    fn fit(&self, sizes: &[i64], strides: &[i64]) -> bool {
        let fits = |(index, size): (usize, &i64)| match self.open.get(index) {
            Some(true) => *size >= 2,
            _ => self.sizes.get(index) == Some(size),
        };
        sizes.len() == self.sizes.len() && sizes.iter().enumerate().all(fits) && follow(&self.plan, sizes, strides)
    }
}

impl DomainCheck for OpenSizes {
    fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        if let Some(Some(words)) = self.words.get() {
            return words.layout(value).is_some_and(|(sizes, strides)| self.fit(sizes, strides));
        }
        if !value.get_type().is(&self.class) {
            return false;
        }
        let agrees = self.agrees(value).unwrap_or(false);
        if agrees {
            self.words.get_or_init(|| TensorWords::of(value));
        }
        agrees
    }

    fn class(&self) -> Option<&Py<PyType>> {
        Some(&self.class)
    }

    fn same(&self, other: &dyn DomainCheck, py: Python<'_>) -> bool {
        let other: &dyn std::any::Any = other;
        other.downcast_ref::<Self>().is_some_and(|other| {
            self.class.is(&other.class)
                && self.open == other.open
                && self.plan == other.plan
                && self.metadata.bind(py).eq(other.metadata.bind(py)).unwrap_or(false)
        })
    }

    fn state<'py>(&self, py: Python<'py>) -> Option<(&'static str, Bound<'py, PyAny>)> {
        let stride = |stride: &Stride| match *stride {
            Stride::Fixed(number) => (false, number),
            Stride::Around(dimension) => (true, dimension as i64),
        };
        let open = PyTuple::new(py, &self.open).ok()?;
        let plan = PyTuple::new(py, self.plan.iter().map(stride)).ok()?;
        let state = (self.class.bind(py), self.metadata.bind(py), open, plan);
        Some((OPEN_SIZES, state.into_pyobject(py).ok()?.into_any()))
    }

    fn wanted(&self) -> Option<(u64, u64)> {
        let words = self.words.get()?.as_ref()?;
        Some((words.kind(), words.number(false)))
    }

    fn number(&self, value: &Bound<'_, PyAny>) -> Option<u64> {
        self.words.get()?.as_ref()?.number_of(value, false)
    }

    fn now(&self, value: &Bound<'_, PyAny>) -> Option<String> {
        guarded(value).and_then(|now| now.repr().map(|text| text.to_string())).ok()
    }

    fn other_sizes(&self, value: &Bound<'_, PyAny>) -> Vec<usize> {
        match value.get_type().is(&self.class) {
            true => other_sizes(value, self.metadata.bind(value.py())).unwrap_or_default(),
            false => Vec::new(),
        }
    }

    fn describe(&self) -> String {
        self.text.clone()
    }
}
