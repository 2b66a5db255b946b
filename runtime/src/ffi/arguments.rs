//! The arguments of a call, by parameter.
use pyo3::ffi;
use pyo3::prelude::*;
use std::marker::PhantomData;

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
        // SAFETY: the caller of the vectorcall keeps its arguments alive for `'a`; packets have NULL for variables without a value.
        unsafe { Borrowed::from_ptr_or_opt(self.py, pointer) }
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
