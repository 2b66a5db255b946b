//! A function that a guard compares with by identity, and the code and defaults that it must still have.
use super::values::same_part;
use crate::ffi::held::Held;
use crate::ffi::inspect;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::Arc;

/// What a function was when it was looked at. Of it, the code alone is kept alive: the program may drop the function with all that its
/// cells and defaults lead to.
#[derive(Debug)]
pub(super) struct FunctionState {
    function: Arc<Held>,
    code: Option<Py<PyAny>>,
    defaults: Option<Vec<Held>>,
    /// Keyword defaults by name: the dict can change in place.
    keywords: Option<Vec<(Py<PyAny>, Held)>>,
}

impl FunctionState {
    /// What the function is now.
    pub fn of(function: &Bound<'_, PyAny>) -> Self {
        Self {
            function: Arc::new(Held::of(function)),
            code: inspect::function_code(function).map(Bound::unbind),
            defaults: tuple(function).map(|items| items.iter().map(|item| Held::of(&item)).collect()),
            keywords: dict(function)
                .map(|dict| dict.iter().map(|(name, value)| (name.unbind(), Held::of(&value))).collect()),
        }
    }

    /// The function, if it still lives.
    pub fn function<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        self.function.object_now(py)
    }

    /// Whether the value is the function.
    #[inline]
    pub fn is(&self, value: &Bound<'_, PyAny>) -> bool {
        self.function.is(value)
    }

    /// A test for the function alone, where its state is watched.
    pub fn identity(&self) -> Arc<Held> {
        Arc::clone(&self.function)
    }

    /// Whether the function still has what it had.
    pub fn holds(&self, function: &Bound<'_, PyAny>) -> bool {
        let same_code = same_part(inspect::function_code(function), self.code.as_ref(), |now, then| now.is(then));
        let same_defaults = || {
            same_part(tuple(function), self.defaults.as_ref(), |now, then| {
                now.len() == then.len() && now.iter().zip(then).all(|(now, then)| then.is(&now))
            })
        };
        let same_keywords = || {
            same_part(dict(function), self.keywords.as_ref(), |now, then| {
                let mut pairs = now.iter().zip(then);
                now.len() == then.len() && pairs.all(|((name, value), then)| name.is(&then.0) && then.1.is(&value))
            })
        };
        same_code && same_defaults() && same_keywords()
    }

    /// Shows what it owns to the garbage collector.
    pub fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        self.function.traverse(visit);
        self.code.iter().for_each(&mut *visit);
        self.defaults.iter().flatten().for_each(|item| item.traverse(visit));
        self.keywords.iter().flatten().for_each(|(name, value)| {
            visit(name);
            value.traverse(visit);
        });
    }
}

fn tuple<'py>(function: &Bound<'py, PyAny>) -> Option<Bound<'py, PyTuple>> {
    inspect::function_defaults(function)?.cast_into().ok()
}

fn dict<'py>(function: &Bound<'py, PyAny>) -> Option<Bound<'py, PyDict>> {
    inspect::function_kwdefaults(function)?.cast_into().ok()
}
