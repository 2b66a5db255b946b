//! The condition that a dict does not hold an object whose hash has changed since.
use crate::ffi::key_hashes;
use crate::guard::condition::DomainCheck;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Of a dict and an object that is looked for under this hash: C does not meet the object under another one on its way.
#[derive(Debug)]
pub struct KeptUnderHash(pub isize);

impl DomainCheck for KeptUnderHash {
    fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        let both = value.cast::<PyTuple>().ok().and_then(|both| both.extract().ok());
        both.is_some_and(|(dict, key): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            !key_hashes::is_met_under_another_hash(&dict, &key, self.0)
        })
    }

    fn same(&self, other: &dyn DomainCheck, _py: Python<'_>) -> bool {
        (other as &dyn std::any::Any).downcast_ref::<Self>().is_some_and(|other| other.0 == self.0)
    }

    fn describe(&self) -> String {
        format!("the dict has the key under the hash {} or not at all", self.0)
    }
}
