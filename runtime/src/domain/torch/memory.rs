//! Which tensors lie in the same memory: a graph that changes one of them in place is compiled for that.
use crate::guard::DomainCheck;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Where the inputs of a graph lie that overlap with one that the graph changes.
#[derive(Debug)]
pub(super) struct MemoryCheck {
    /// Bytes from the first element of each input to behind its last; guards on shapes and strides keep them.
    extents: Vec<usize>,
    /// Whether the graph may change the input.
    changed: Vec<bool>,
    overlaps: Vec<Overlap>,
}

/// Two inputs, how many bytes the second begins after the first, and whether they are one object.
type Overlap = (usize, usize, isize, bool);

impl MemoryCheck {
    /// For inputs like these.
    pub(super) fn new(inputs: &[Bound<'_, PyAny>], changed: &[bool]) -> PyResult<Self> {
        let extents = inputs.iter().map(extent).collect::<PyResult<_>>()?;
        let mut check = Self { extents, changed: changed.to_vec(), overlaps: Vec::new() };
        check.overlaps = check.overlaps_of(inputs)?;
        Ok(check)
    }

    fn overlaps_of(&self, inputs: &[Bound<'_, PyAny>]) -> PyResult<Vec<Overlap>> {
        let starts = addresses(inputs)?;
        let mut found = Vec::new();
        for (one, start) in starts.iter().enumerate() {
            for (other, beside) in starts.iter().enumerate().skip(one + 1) {
                let meet = *start < beside + self.extents[other] && *beside < start + self.extents[one];
                if meet && (self.changed[one] || self.changed[other]) {
                    let distance = (*beside as isize).wrapping_sub(*start as isize);
                    found.push((one, other, distance, inputs[one].is(&inputs[other])));
                }
            }
        }
        Ok(found)
    }
}

fn addresses(tensors: &[Bound<'_, PyAny>]) -> PyResult<Vec<usize>> {
    tensors.iter().map(|tensor| tensor.call_method0(name!("data_ptr"))?.extract()).collect()
}

fn extent(tensor: &Bound<'_, PyAny>) -> PyResult<usize> {
    let shape: Vec<usize> = tensor.getattr(name!("shape"))?.extract()?;
    let strides: Vec<usize> = tensor.call_method0(name!("stride"))?.extract()?;
    let size: usize = tensor.call_method0(name!("element_size"))?.extract()?;
    let last: usize = shape.iter().zip(&strides).map(|(length, stride)| length.saturating_sub(1) * stride).sum();
    Ok(if shape.contains(&0) { 0 } else { (last + 1) * size })
}

impl DomainCheck for MemoryCheck {
    fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        let inputs: Vec<_> = value.cast::<PyTuple>().map(|inputs| inputs.iter().collect()).unwrap_or_default();
        inputs.len() == self.extents.len() && self.overlaps_of(&inputs).is_ok_and(|found| found == self.overlaps)
    }

    fn same(&self, other: &dyn DomainCheck, _py: Python<'_>) -> bool {
        let other = (other as &dyn std::any::Any).downcast_ref::<Self>();
        let parts = |check: &Self| (check.extents.clone(), check.changed.clone(), check.overlaps.clone());
        other.is_some_and(|other| parts(self) == parts(other))
    }

    fn describe(&self) -> String {
        match self.overlaps.len() {
            0 => "share no memory with what the graph changes".to_owned(),
            count => format!("share memory with what the graph changes, {count} of them, as they did"),
        }
    }
}
