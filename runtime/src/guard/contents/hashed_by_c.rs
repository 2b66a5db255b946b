//! The condition that C looks for the keys of a container without code of Python.
use crate::ffi::{containers, types};
use crate::guard::condition::DomainCheck;
use generated::slots::Slot;
use pyo3::prelude::*;
use pyo3::types::PyNone;

/// Of a dict or set: that C hashes and compares all that it holds by value, as texts and numbers, or by address.
#[derive(Debug)]
pub struct HashedByC;

impl HashedByC {
    /// Whether it holds.
    #[must_use]
    pub fn all(container: &Bound<'_, PyAny>) -> bool {
        containers::keys(container).is_ok_and(|keys| keys.iter().all(|key| is_hashed_by_c(&key)))
    }
}

impl DomainCheck for HashedByC {
    fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        Self::all(value)
    }

    fn same(&self, other: &dyn DomainCheck, _py: Python<'_>) -> bool {
        (other as &dyn std::any::Any).is::<Self>()
    }

    fn describe(&self) -> String {
        "C hashes all keys".to_owned()
    }
}

fn is_hashed_by_c(key: &Bound<'_, PyAny>) -> bool {
    use pyo3::types::{PyBool, PyBytes, PyFloat, PyInt, PyString};
    let by_value = key.is_exact_instance_of::<PyString>()
        || key.is_exact_instance_of::<PyInt>()
        || key.is_exact_instance_of::<PyBytes>()
        || key.is_exact_instance_of::<PyFloat>()
        || key.is_exact_instance_of::<PyBool>()
        || key.is_exact_instance_of::<PyNone>();
    let (class, plain) = (key.get_type(), key.py().get_type::<PyAny>());
    let is_plain = |slot| types::slot(&class, slot) == types::slot(&plain, slot);
    by_value || is_plain(Slot::tp_hash) && is_plain(Slot::tp_richcompare)
}
