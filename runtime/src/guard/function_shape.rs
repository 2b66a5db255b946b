//! What two functions must have in common for the trace of one to be right for the other.
use super::values;
use crate::ffi::{function, inspect};
use crate::names::name;
use crate::stored::{Damaged, In, Misfit, Out};
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
        let same_names = || {
            values::same_part(inspect::function_kwdefaults(function), self.keywords.as_ref(), |now, then| {
                values::has_keys(&now, then.bind(now.py()).as_any())
            })
        };
        let same_objects = || {
            let mut parts = objects(function).into_iter().zip(&self.objects);
            parts.all(|(now, then)| values::same_part(now, then.as_ref(), |now, then| now.is(then)))
        };
        same_objects() && defaults(function) == self.defaults && same_names()
    }

    /// Writes it.
    ///
    /// # Errors
    /// Why no name leads to the code or the globals.
    pub fn write<'py>(&self, out: &mut Out<'_, 'py>) -> Result<(), Misfit> {
        let py = out.py();
        let [Some(code), Some(globals), _] = &self.objects else { return Err(Misfit::new("no function")) };
        out.identity(code.bind(py))?;
        out.identity(globals.bind(py))?;
        out.bytes.number(self.defaults.map_or(0, |count| count as u64 + 1));
        let none = py.None().into_bound(py);
        out.object(self.keywords.as_ref().map_or(&none, |names| names.bind(py).as_any()))
    }

    /// A function that has the shape which [`FunctionShape::write`] has written. Nobody calls it.
    ///
    /// # Errors
    /// What is not in this process as it was in the other.
    pub fn read<'py>(from: &mut In<'_, 'py>) -> Result<Bound<'py, PyAny>, Misfit> {
        let (code, globals) = (from.object()?, from.object()?);
        let made = function::new(&code, globals.cast::<PyDict>().map_err(|_| Damaged)?)?;
        let (py, count) = (from.py(), from.bytes.count()?);
        if count > 0 {
            let defaults = PyTuple::new(py, (1..count).map(|_| py.None()))?;
            made.setattr(name!("__defaults__"), defaults)?;
        }
        if let Ok(names) = from.object()?.cast::<PyTuple>() {
            let defaults = PyDict::new(py);
            names.iter().try_for_each(|name| defaults.set_item(name, py.None()))?;
            made.setattr(name!("__kwdefaults__"), defaults)?;
        }
        Ok(made)
    }

    /// Shows what it owns to the garbage collector.
    pub fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        self.objects.iter().flatten().for_each(&mut *visit);
        self.keywords.iter().for_each(|names| visit(names.as_any()));
    }
}
