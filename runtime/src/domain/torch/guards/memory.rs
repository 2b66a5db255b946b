//! Which tensors lie in the same memory: a graph that changes one of them in place is compiled for that.
use crate::ffi::libtorch::Quiet;
use crate::ffi::libtorch::TensorPlaces;
use crate::guard::DomainCheck;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;
use std::sync::Mutex;

/// What the state is written as.
pub(in crate::domain::torch) const MEMORY: &str = "memory";

/// Where the inputs of a graph lie that overlap with one that the graph changes.
#[derive(Debug)]
pub(in crate::domain::torch) struct MemoryCheck {
    /// Bytes from the first element of each input to behind its last, where guards on shapes and strides keep them.
    extents: Option<Vec<usize>>,
    /// Whether the graph may change the input.
    changed: Vec<bool>,
    overlaps: Vec<Overlap>,
    quick: Quick,
}

/// What makes the next check quick.
struct Quick {
    /// Where objects like the inputs keep their tensors, once it was looked for.
    places: PyOnceLock<Option<TensorPlaces>>,
    /// The inputs as they lay in memory one after the other.
    order: Mutex<Vec<usize>>,
}

/// Two inputs, how many bytes the second begins after the first, and whether they are one object.
type Overlap = (usize, usize, isize, bool);

impl std::fmt::Debug for Quick {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Quick")
    }
}

impl Quick {
    fn new() -> Self {
        Self { places: PyOnceLock::new(), order: Mutex::default() }
    }
}

impl MemoryCheck {
    /// For inputs like these.
    ///
    /// `open`: where they end differs from call to call.
    pub(in crate::domain::torch) fn new(inputs: &[Bound<'_, PyAny>], changed: &[bool], open: bool) -> PyResult<Self> {
        let _quiet = Quiet::about(inputs);
        let extents = if open { None } else { Some(extents(inputs)?) };
        let mut check = Self { extents, changed: changed.to_vec(), overlaps: Vec::new(), quick: Quick::new() };
        check.overlaps = check.overlaps_of(inputs)?;
        Ok(check)
    }

    /// From its state: extents, if they stay, which inputs change, overlaps.
    pub(in crate::domain::torch) fn of_state(state: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (extents, changed, overlaps) = state.extract::<(Option<Vec<usize>>, Vec<bool>, Vec<Overlap>)>()?;
        let fits = |(one, other, ..): &Overlap| (*one).max(*other) < changed.len();
        if extents.as_ref().is_some_and(|extents| extents.len() != changed.len()) || !overlaps.iter().all(fits) {
            return Err(pyo3::exceptions::PyValueError::new_err("inputs that do not fit together"));
        }
        Ok(Self { extents, changed, overlaps, quick: Quick::new() })
    }

    /// Whether any of them share memory.
    pub(in crate::domain::torch) fn has_overlaps(&self) -> bool {
        !self.overlaps.is_empty()
    }

    /// Whether none share memory, where none did; `None`: it takes longer to find out.
    fn are_apart(&self, inputs: &Bound<'_, PyTuple>) -> Option<bool> {
        let extents =
            self.extents.as_ref().filter(|extents| self.overlaps.is_empty() && extents.len() == inputs.len())?;
        let find = || {
            let _quiet = Quiet::about(&inputs.iter().collect::<Vec<_>>());
            TensorPlaces::of(inputs)
        };
        let starts = self.quick.places.get_or_init(inputs.py(), find).as_ref()?.addresses(inputs)?;
        let mut order = self.quick.order.lock().ok()?;
        if order.len() != starts.len() {
            *order = (0..starts.len()).collect();
        }
        // Parameters stay where they are.
        if !order.is_sorted_by_key(|index| starts[*index]) {
            order.sort_unstable_by_key(|index| starts[*index]);
        }
        let meets = |(place, first): (usize, &usize)| {
            let end = starts[*first] + extents[*first];
            let behind = order[place + 1..].iter().take_while(|second| starts[**second] < end);
            let is_changed = |second: &usize| self.changed[*first] || self.changed[*second];
            behind.filter(|second| is_changed(second)).any(|second| starts[*first] < starts[*second] + extents[*second])
        };
        Some(!order.iter().enumerate().any(meets))
    }

    fn overlaps_of(&self, inputs: &[Bound<'_, PyAny>]) -> PyResult<Vec<Overlap>> {
        let _quiet = Quiet::about(inputs);
        let starts = addresses(inputs)?;
        let now = if self.extents.is_none() { extents(inputs)? } else { Vec::new() };
        let extents = self.extents.as_ref().unwrap_or(&now);
        let mut order: Vec<usize> = (0..starts.len()).collect();
        order.sort_unstable_by_key(|index| starts[*index]);
        let mut found = Vec::new();
        for (place, first) in order.iter().enumerate() {
            let end = starts[*first] + extents[*first];
            // Those that begin before this one ends.
            for second in order[place + 1..].iter().take_while(|second| starts[**second] < end) {
                let (one, other) = (*first.min(second), *first.max(second));
                let meet = starts[*first] < starts[*second] + extents[*second];
                if meet && (self.changed[one] || self.changed[other]) {
                    let distance = (starts[other] as isize).wrapping_sub(starts[one] as isize);
                    found.push((one, other, distance, inputs[one].is(&inputs[other])));
                }
            }
        }
        found.sort_unstable();
        Ok(found)
    }
}

fn addresses(tensors: &[Bound<'_, PyAny>]) -> PyResult<Vec<usize>> {
    tensors.iter().map(|tensor| tensor.call_method0(name!("data_ptr"))?.extract()).collect()
}

fn extents(tensors: &[Bound<'_, PyAny>]) -> PyResult<Vec<usize>> {
    tensors.iter().map(extent).collect()
}

fn extent(tensor: &Bound<'_, PyAny>) -> PyResult<usize> {
    if tensor.getattr(name!("is_meta"))?.is_truthy()? {
        // It has no memory.
        return Ok(0);
    }
    let shape: Vec<usize> = tensor.getattr(name!("shape"))?.extract()?;
    let strides: Vec<usize> = tensor.call_method0(name!("stride"))?.extract()?;
    let size: usize = tensor.call_method0(name!("element_size"))?.extract()?;
    let last: usize = shape.iter().zip(&strides).map(|(length, stride)| length.saturating_sub(1) * stride).sum();
    Ok(if shape.contains(&0) { 0 } else { (last + 1) * size })
}

impl DomainCheck for MemoryCheck {
    fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        if let Some(apart) = value.cast::<PyTuple>().ok().and_then(|inputs| self.are_apart(inputs)) {
            return apart;
        }
        let inputs: Vec<_> = value.cast::<PyTuple>().map(|inputs| inputs.iter().collect()).unwrap_or_default();
        inputs.len() == self.changed.len() && self.overlaps_of(&inputs).is_ok_and(|found| found == self.overlaps)
    }

    fn same(&self, other: &dyn DomainCheck, _py: Python<'_>) -> bool {
        let other = (other as &dyn std::any::Any).downcast_ref::<Self>();
        let parts = |check: &Self| (check.extents.clone(), check.changed.clone(), check.overlaps.clone());
        other.is_some_and(|other| parts(self) == parts(other))
    }

    fn now(&self, value: &Bound<'_, PyAny>) -> Option<String> {
        let inputs: Vec<_> = value.cast::<PyTuple>().ok()?.iter().collect();
        let count = self.overlaps_of(&inputs).ok()?.len();
        Some(format!("{count} pairs share memory, {} did", self.overlaps.len()))
    }

    fn state<'py>(&self, py: Python<'py>) -> Option<(&'static str, Bound<'py, PyAny>)> {
        let overlaps = PyTuple::new(py, self.overlaps.iter().copied()).ok()?;
        let extents = self.extents.as_ref().map(|extents| PyTuple::new(py, extents)).transpose().ok()?;
        let changed = PyTuple::new(py, &self.changed).ok()?;
        Some((MEMORY, (extents, changed, overlaps).into_pyobject(py).ok()?.into_any()))
    }

    fn describe(&self) -> String {
        match self.overlaps.len() {
            0 => "share no memory with what the graph changes".to_owned(),
            count => format!("share memory with what the graph changes in {count} pairs, as they did"),
        }
    }
}
