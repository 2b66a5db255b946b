//! Which tensors lie in the same memory: a graph that changes one of them in place is compiled for that.
use crate::domain::torch::thread::quiet::Quiet;
use crate::guard::DomainCheck;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

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
}

/// Two inputs, how many bytes the second begins after the first, and whether they are one object.
type Overlap = (usize, usize, isize, bool);

impl MemoryCheck {
    /// For inputs like these.
    ///
    /// `open`: where they end differs from call to call.
    pub(in crate::domain::torch) fn new(inputs: &[Bound<'_, PyAny>], changed: &[bool], open: bool) -> PyResult<Self> {
        let _quiet = Quiet::about(inputs);
        let extents = if open { None } else { Some(extents(inputs)?) };
        let mut check = Self { extents, changed: changed.to_vec(), overlaps: Vec::new() };
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
        Ok(Self { extents, changed, overlaps })
    }

    /// Whether any of them share memory.
    pub(in crate::domain::torch) fn has_overlaps(&self) -> bool {
        !self.overlaps.is_empty()
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
