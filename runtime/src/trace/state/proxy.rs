//! The object that stands for a value while C works.
use super::value::ValueId;
use pyo3::prelude::*;
use std::sync::atomic::AtomicBool;

/// Stands for a value of the running trace.
#[pyclass(frozen, subclass, weakref, module = "slotrt")]
#[derive(Debug)]
pub struct Proxy {
    pub(crate) value: ValueId,
    pub(crate) trace: u64,
    /// Whether C got it; else it only stands in the cells of functions that the trace made.
    pub(crate) given: AtomicBool,
}
