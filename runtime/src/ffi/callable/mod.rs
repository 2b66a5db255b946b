//! `CompiledFunction`: a callable whose C-level vectorcall asks a Rust dispatcher which function to run.
mod bind;
mod class;
mod object;
mod packet;
mod slots;
mod suspended;

use pyo3::ffi;
use pyo3::prelude::*;
use std::marker::PhantomData;

pub use object::{active, follow, is_compiled, is_packet, new, wrapped};
pub use packet::mark;
pub use suspended::{is_suspended, suspended};

pyo3::create_exception!(
    slotrt,
    InternalError,
    pyo3::exceptions::PyException,
    "A fault of slotrt itself; please report it."
);

/// The values of a call's parameters: one per parameter in the order of `co_varnames`, `*args` as a tuple, `**kwargs` as a dict.
#[derive(Clone, Copy)]
pub struct Args<'a, 'py> {
    values: &'a [*mut ffi::PyObject],
    py: Python<'py>,
    alive: PhantomData<&'a Py<PyAny>>,
}

impl std::fmt::Debug for Args<'_, '_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_list().entries(self.iter()).finish()
    }
}

impl<'a, 'py> Args<'a, 'py> {
    /// `values` must be live objects for `'a`.
    pub(super) fn new(py: Python<'py>, values: &'a [*mut ffi::PyObject]) -> Self {
        Self { values, py, alive: PhantomData }
    }

    /// How many.
    #[must_use]
    pub fn len(self) -> usize {
        self.values.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.values.is_empty()
    }

    /// The value of a parameter.
    #[must_use]
    pub fn get(self, index: usize) -> Option<Borrowed<'a, 'py, PyAny>> {
        let pointer = *self.values.get(index)?;
        // SAFETY: the caller of the vectorcall keeps its arguments alive for `'a`; none of them is NULL.
        Some(unsafe { Borrowed::from_ptr(self.py, pointer) })
    }

    /// All values.
    pub fn iter(self) -> impl Iterator<Item = Borrowed<'a, 'py, PyAny>> {
        (0..self.len()).filter_map(move |index| self.get(index))
    }

    /// The raw pointers, for guards that compare identities.
    #[must_use]
    pub fn pointers(self) -> &'a [*mut ffi::PyObject] {
        self.values
    }

    /// The interpreter.
    #[must_use]
    pub fn py(self) -> Python<'py> {
        self.py
    }
}

/// What a dispatcher decided.
#[derive(Debug)]
pub enum Chosen {
    /// Call this function with the same values, all positional.
    Run(Py<PyAny>),
    /// Call the original function as it was called.
    Original,
    /// The call is done; this is its result.
    Done(Py<PyAny>),
}

/// Decides what a call of a [`CompiledFunction`](new) runs. May run Python code; must not assume that `function` is unchanged.
pub trait Dispatch: Send + Sync {
    /// Checks guards, compiles if need be, and chooses.
    fn choose<'py>(&self, function: &Bound<'py, PyAny>, args: Args<'_, 'py>) -> PyResult<Chosen>;

    /// Shows every Python object it owns to the garbage collector; must neither run Python code nor take a lock that can be held.
    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>));

    /// Drops every Python object it owns, to break reference cycles.
    fn clear(&self);
}
