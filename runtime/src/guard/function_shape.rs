//! What two functions must have in common for the trace of one to be right for the other.
use super::values;
use crate::ffi::inspect;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// What a call of a function depends on, besides its cells and defaults: these have guards of their own, where they are used.
#[derive(Debug)]
pub(super) struct FunctionShape {
    /// Code, globals and builtins.
    objects: [Option<Py<PyAny>>; 3],
    defaults: Option<usize>,
    /// Names of keyword defaults.
    keywords: Option<Py<PyTuple>>,
}

fn objects<'py>(function: &Bound<'py, PyAny>) -> [Option<Bound<'py, PyAny>>; 3] {
    [inspect::function_code(function), inspect::globals(function), inspect::builtins(function)]
}

fn defaults(function: &Bound<'_, PyAny>) -> Option<usize> {
    inspect::function_defaults(function).as_ref().and_then(values::length)
}

impl FunctionShape {
    pub fn of(function: &Bound<'_, PyAny>) -> Self {
        let names = |names: Bound<'_, PyAny>| Some(names.cast::<PyDict>().ok()?.keys().to_tuple().unbind());
        Self {
            objects: objects(function).map(|object| object.map(Bound::unbind)),
            defaults: defaults(function),
            keywords: inspect::function_kwdefaults(function).and_then(names),
        }
    }

    /// Whether it is that of the function.
    pub fn is_of(&self, function: &Bound<'_, PyAny>) -> bool {
        let same = |(now, then): (&Option<Bound<'_, PyAny>>, &Option<Py<PyAny>>)| match (now, then) {
            (Some(now), Some(then)) => now.is(then),
            (now, then) => now.is_none() && then.is_none(),
        };
        let same_names = || match (inspect::function_kwdefaults(function), &self.keywords) {
            (Some(now), Some(then)) => values::has_keys(&now, then.bind(now.py()).as_any()),
            (now, then) => now.is_none() && then.is_none(),
        };
        objects(function).iter().zip(&self.objects).all(same) && defaults(function) == self.defaults && same_names()
    }

    /// Shows what it owns to the garbage collector.
    pub fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        self.objects.iter().flatten().for_each(&mut *visit);
        self.keywords.iter().for_each(|names| visit(names.as_any()));
    }
}
