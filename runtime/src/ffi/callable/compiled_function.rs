//! Memory layout of a `CompiledFunction`.
use super::argument_binder::Binder;
use super::dispatch::Dispatch;
use super::slots;
use pyo3::ffi;
use pyo3::prelude::*;

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

/// Gives what `look` sees of the dispatcher of a `CompiledFunction`; `None` for any other object.
pub fn with_dispatch<T>(object: &Bound<'_, PyAny>, look: impl FnOnce(&dyn Dispatch) -> T) -> Option<T> {
    let class = slots::class(object.py()).ok()?;
    // SAFETY: the type is checked; `state` is set for every object that Python code has seen, and freed with it.
    object.get_type().is(class).then(|| look(unsafe { &*(*(*object.as_ptr().cast::<CompiledFunction>()).state).dispatch }))
}
