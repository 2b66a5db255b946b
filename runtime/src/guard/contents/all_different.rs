//! The condition that several paths lead to as many objects.
use crate::guard::condition::DomainCheck;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rustc_hash::FxHashSet;

/// What it is called on disk.
pub(crate) const ALL_DIFFERENT: &str = "all different";

/// Of a tuple: that no object stands in it twice.
#[derive(Debug)]
pub struct AllDifferent;

impl DomainCheck for AllDifferent {
    fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        let mut seen = FxHashSet::default();
        value.cast::<PyTuple>().is_ok_and(|objects| objects.iter().all(|object| seen.insert(object.as_ptr() as usize)))
    }

    fn same(&self, other: &dyn DomainCheck, _py: Python<'_>) -> bool {
        (other as &dyn std::any::Any).is::<Self>()
    }

    fn state<'py>(&self, py: Python<'py>) -> Option<(&'static str, Bound<'py, PyAny>)> {
        Some((ALL_DIFFERENT, py.None().into_bound(py)))
    }

    fn describe(&self) -> String {
        "are different objects".to_owned()
    }
}
