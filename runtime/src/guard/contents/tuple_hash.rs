//! The condition on the hash that a tuple keeps.
use crate::ffi::tuple_hashes;
use crate::guard::condition::DomainCheck;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// That the tuple keeps this hash, or none.
#[derive(Debug)]
pub struct TupleHash(pub Option<isize>);

impl DomainCheck for TupleHash {
    fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        value.cast::<PyTuple>().is_ok_and(|tuple| tuple_hashes::of(tuple) == self.0)
    }

    fn describe(&self) -> String {
        self.0.map_or_else(|| "was not asked for its hash".to_owned(), |hash| format!("keeps the hash {hash}"))
    }
}
