//! The object that stands for a value while C works.
use super::value::ValueId;
use pyo3::prelude::*;

/// Stands for a value of the running trace.
#[pyclass(frozen, subclass, weakref, module = "slotrt")]
#[derive(Debug)]
pub struct Proxy {
    pub(crate) value: ValueId,
    pub(crate) trace: u64,
}
