//! The condition that an iterator reads nothing that a trace changes before the iterator's next step.
use crate::ffi::{inspect, iterators};
use crate::guard::condition::DomainCheck;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// Of a tuple: that the steps of the iterator which is its first item neither advance nor read the objects that follow, nor, where these
/// are iterators, what they advance.
#[derive(Debug)]
pub struct IteratorApart;

/// What the state of the condition is written as.
pub(in crate::guard) const ITERATOR_APART: &str = "iterator apart";

impl DomainCheck for IteratorApart {
    fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        let Ok(objects) = value.cast::<PyTuple>() else { return false };
        let mut objects = objects.iter();
        let reached = objects.next().and_then(|iterator| iterators::reached(&iterator));
        reached.is_some_and(|reached| objects.all(|object| is_apart(&reached, &object)))
    }

    fn same(&self, other: &dyn DomainCheck, _py: Python<'_>) -> bool {
        (other as &dyn std::any::Any).is::<Self>()
    }

    fn state<'py>(&self, py: Python<'py>) -> Option<(&'static str, Bound<'py, PyAny>)> {
        Some((ITERATOR_APART, py.None().into_bound(py)))
    }

    fn describe(&self) -> String {
        "the first goes through none of the others".to_owned()
    }
}

fn is_apart(reached: &iterators::Reached<'_>, object: &Bound<'_, PyAny>) -> bool {
    let holds =
        |wanted: &Bound<'_, PyAny>| reached.iterators.iter().chain(&reached.others).any(|found| found.is(wanted));
    if iterators::is_iterator(&object.get_type()) {
        let other = iterators::reached(object);
        return other.is_some_and(|other| !other.iterators.iter().any(holds));
    }
    let is_dict = |found: &Bound<'_, PyAny>| found.is_exact_instance_of::<PyDict>();
    !holds(object) && (!reached.others.iter().any(is_dict) || !holds(&inspect::own_dict(object)))
}
