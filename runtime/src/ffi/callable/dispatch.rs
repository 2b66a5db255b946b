//! Dispatchers: they decide what a call of a compiled function runs.
use crate::ffi::Args;
use pyo3::prelude::*;

/// The choice of a dispatcher.
#[derive(Debug)]
pub enum Choice {
    /// Call this function with the same values, all positional.
    Run(Py<PyAny>),
    /// Call the original function as it was called.
    Original,
    /// The call is done; this is its result.
    Done(Py<PyAny>),
}

/// Decides what a call of a [`CompiledFunction`](super::new) runs. May run Python code; must not assume that `function` is unchanged.
pub trait Dispatch: std::any::Any + Send + Sync {
    /// Checks guards, compiles if need be, and chooses.
    fn choose<'py>(&self, function: &Bound<'py, PyAny>, args: Args<'_, 'py>) -> PyResult<Choice>;

    /// Whether the function only passes calls on to another callable: programs do not see it in tracebacks.
    fn is_forwarder(&self) -> bool {
        false
    }

    /// Shows every Python object it owns to the garbage collector; must neither run Python code nor take a lock that can be held.
    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>));

    /// Drops every Python object it owns, to break reference cycles.
    fn clear(&self);
}
