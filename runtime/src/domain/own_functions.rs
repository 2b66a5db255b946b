//! What functions of a library are told where a trace goes through them, and what they keep.
use pyo3::prelude::*;
use pyo3::types::PyType;

/// A library's own functions.
pub trait OwnFunctions {
    /// Whether instances of this class are hashed by their `id()`, in code of the library.
    fn is_hashed_by_id(&self, _class: &Bound<'_, PyType>) -> bool {
        false
    }
    /// Whether a function keeps what it makes at its first call, for the next ones.
    fn keeps_state(&self, _function: &Bound<'_, PyAny>) -> bool {
        false
    }
    /// Whether a backend leaves alone what a function computes: it would compute other numbers.
    fn runs_as_recorded(&self, _function: &Bound<'_, PyAny>) -> bool {
        false
    }
    /// The attribute of a function made by a compiler that holds the function which the program gave it, and which a trace goes through.
    fn compiled_from(&self, _function: &Bound<'_, PyAny>) -> Option<&'static str> {
        None
    }
    /// Whether a number that a function reads under this name is another one at other calls, whatever earlier calls found.
    fn is_scheduled(&self, _function: &Bound<'_, PyAny>, _name: &str) -> bool {
        false
    }
    /// What a function gives in a trace by which programs ask whether a compiler runs them, or tell it something: `True`, mostly. `caller`: the
    /// function that calls it. `None`: it is another function.
    fn told_of_compiler<'py>(
        &self,
        _function: &Bound<'py, PyAny>,
        _name: &str,
        _caller: Option<&Bound<'py, PyAny>>,
    ) -> Option<Bound<'py, PyAny>> {
        None
    }
}
