//! Memory layout of a `CompiledFunction`.
use super::argument_binder::Binder;
use super::dispatch::Dispatch;
use pyo3::ffi;

/// Memory layout of an instance.
#[repr(C)]
pub(super) struct CompiledFunction {
    pub ob_base: ffi::PyObject,
    pub vectorcall: ffi::vectorcallfunc,
    pub weakrefs: *mut ffi::PyObject,
    /// The original function; NULL only after `tp_clear`.
    pub function: *mut ffi::PyObject,
    /// The rest, owned; NULL only before construction is complete.
    pub state: *mut State,
}

pub(super) struct State {
    pub dispatch: Box<dyn Dispatch>,
    pub binder: Binder,
    /// Whether it is called by frame packets.
    pub continuation: bool,
}
