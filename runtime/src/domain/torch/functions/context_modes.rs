//! Functions of this package that set a mode as a context manager of PyTorch's does: they say themselves how that is undone.
use crate::domain::torch::graph_break::{CallResult, fault, stop};
use crate::domain::{Answer, Call, ModeChange, Operand};
use crate::ffi::{callee, inspect};
use crate::names::interned;
use pyo3::prelude::*;
use pyo3::types::{PyFunction, PyTuple};

/// The attribute of such a function that tells what undoes a call.
const MODE: &str = "_slotrt_mode";

fn description<'py>(callable: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    callable.cast_exact::<PyFunction>().ok()?;
    inspect::own_attribute(callable, &interned(callable.py(), MODE))
}

/// Whether it is a function that sets a mode, and says how that is undone.
pub(in crate::domain::torch) fn is_context_mode(callable: &Bound<'_, PyAny>) -> bool {
    description(callable).is_some()
}

/// A call of one.
pub(in crate::domain::torch) fn context_mode<'py>(
    function: &Bound<'py, PyAny>,
    args: &[Operand<'py>],
) -> CallResult<'py> {
    let known = |arg: &Operand<'py>| match arg {
        Operand::Known(object) => Some(object.clone()),
        _ => None,
    };
    let Some(args) = args.iter().map(known).collect::<Option<Vec<_>>>() else {
        return Err(stop("mode that is not known", callee::name_of(function), "What it sets depends on contents."));
    };
    change(function, args).map_err(|error| fault(&error))
}

fn change<'py>(function: &Bound<'py, PyAny>, args: Vec<Bound<'py, PyAny>>) -> PyResult<Answer<'py>> {
    type Described<'py> = (Bound<'py, PyAny>, Option<Bound<'py, PyAny>>, Vec<Bound<'py, PyAny>>);
    let py = function.py();
    let Some(describe) = description(function) else { return Ok(Answer::NotImplemented) };
    let (undo, restore, questions): Described<'py> = describe.call1(PyTuple::new(py, &args)?)?.extract()?;
    let call = |described: &Bound<'py, PyAny>| -> PyResult<Call<'py>> {
        let (callable, args): (Bound<'py, PyAny>, Bound<'py, PyTuple>) = described.extract()?;
        Ok((callable, args.iter().collect()))
    };
    Ok(Answer::ModeChange(Box::new(ModeChange {
        set: (function.clone(), args),
        named: Vec::new(),
        undo: Some(call(&undo)?),
        restore: restore.as_ref().map(call).transpose()?,
        questions: questions.iter().map(call).collect::<PyResult<_>>()?,
    })))
}
