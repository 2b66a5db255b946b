//! The condition that an `OrderedDict` has its keys in a certain order.
use crate::ffi::ordered_dict::{is_derived, order};
use crate::guard::condition::DomainCheck;
use crate::guard::values::equal;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// What its state is written as.
pub(in crate::guard) const KEY_ORDER: &str = "key order";

/// That an `OrderedDict`, whose keys are known, has them in this order.
#[derive(Debug)]
pub struct KeyOrder(pub Py<PyTuple>);

impl DomainCheck for KeyOrder {
    fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        let found = value.cast::<PyDict>().ok().filter(|_| is_derived(value)).and_then(|found| order(found).ok());
        let wanted = self.0.bind(value.py());
        found.is_some_and(|found| {
            found.len() == wanted.len() && found.iter().zip(wanted).all(|(key, wanted)| equal(key, &wanted))
        })
    }

    fn same(&self, other: &dyn DomainCheck, py: Python<'_>) -> bool {
        let other = (other as &dyn std::any::Any).downcast_ref::<Self>();
        other.is_some_and(|other| self.0.bind(py).iter().zip(other.0.bind(py)).all(|(one, other)| one.is(&other)))
    }

    fn state<'py>(&self, py: Python<'py>) -> Option<(&'static str, Bound<'py, PyAny>)> {
        Some((KEY_ORDER, self.0.bind(py).clone().into_any()))
    }

    fn describe(&self) -> String {
        Python::attach(|py| format!("has its keys in the order {}", self.0.bind(py)))
    }
}
