//! Python functions that the program says always give the same: called while tracing, whatever they do.
use crate::guard::source::Source;
use crate::stored::ProcessBound;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::Traced;
use crate::trace::state::value::ValueId;
use crate::trace::value::kinds::{is_definition, is_scalar};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

impl<'py> Tracer<'py> {
    /// The result of a function that is marked so, which is a constant of the trace. What is called is the function itself, or a callable
    /// around it that keeps its results. `None`: it is traced, for it is not marked, its arguments are not known, it raises, or it gives what
    /// could change.
    pub(crate) fn call_assumed_constant(
        &mut self,
        function: &Bound<'py, PyAny>,
        callable: &Bound<'py, PyAny>,
        args: &Arguments,
    ) -> Traced<Option<ValueId>> {
        if !self.state.domains.iter().any(|domain| domain.assumes_constant(function)) {
            return Ok(None);
        }
        // What the callable around it keeps is the same object at every call, and asks its arguments for their identity.
        let is_kept = !callable.is(function);
        let positional = self.all_known(args.positional.iter().copied(), is_kept)?;
        let named = self.all_known(args.keywords.iter().map(|(_, value)| *value), is_kept)?;
        let (Some(positional), Some(named)) = (positional, named) else { return Ok(None) };
        let names = args.keywords.iter().map(|(name, _)| name);
        // It may see the order of a set.
        self.note_bound(ProcessBound::Hashes);
        let result = called(callable, positional, names.zip(named)).ok();
        let constant = result.filter(|result| is_kept || is_scalar(result) || is_definition(result));
        Ok(constant.map(|constant| self.absorb_static(constant)))
    }

    /// The objects, if all are known and none can change; `by_identity`: these may.
    fn all_known(
        &mut self,
        values: impl Iterator<Item = ValueId>,
        by_identity: bool,
    ) -> Traced<Option<Vec<Bound<'py, PyAny>>>> {
        let mut objects = Vec::new();
        for value in values {
            let known = match self.known(value) {
                Some(known) => Some(known),
                None => self.unchanging(value)?,
            };
            let is_constant = by_identity && matches!(self.source(value), Some(Source::Constant(..)));
            let known = known.or_else(|| self.real(value).filter(|_| is_constant));
            let Some(known) = known else { return Ok(None) };
            objects.push(known);
        }
        Ok(Some(objects))
    }
}

fn called<'py>(
    callable: &Bound<'py, PyAny>,
    positional: Vec<Bound<'py, PyAny>>,
    named: impl Iterator<Item = (impl AsRef<str>, Bound<'py, PyAny>)>,
) -> PyResult<Bound<'py, PyAny>> {
    let names = PyDict::new(callable.py());
    for (name, object) in named {
        names.set_item(name.as_ref(), object)?;
    }
    callable.call(PyTuple::new(callable.py(), positional)?, Some(&names))
}
