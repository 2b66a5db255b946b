//! Functions of this package that set a mode as a context manager of PyTorch's does: they say themselves how that is undone. Contexts of C in
//! which `__torch_function__` is left aside are such modes.
use crate::domain::torch::graph_break::{CallResult, fault, stop};
use crate::domain::torch::named::module_of;
use crate::domain::torch::thread::function_modes;
use crate::domain::{Answer, Call, ModeChange, Operand};
use crate::ffi::{callee, inspect, types};
use crate::names::{interned, name};
use pyo3::prelude::*;
use pyo3::types::{PyFunction, PyTuple, PyType};

const MODULE: &str = "slotrt._torch_modes";

/// The attribute of such a function that tells what undoes a call.
const MODE: &str = "_slotrt_mode";

/// The attribute of such a function on which no call of a graph depends: it is called after the graph.
const FOLLOWS: &str = "_slotrt_follows";

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

/// Whether it is a function of this package that sets a mode.
pub(in crate::domain::torch) fn is_of_this_package(target: &Bound<'_, PyAny>) -> bool {
    module_of(target).is_some_and(|module| module == MODULE)
}

/// Classes of contexts in which classes, or modes, too, do not take over calls; in the last one they do.
const SWITCHES: &[&str] =
    &["torch._C.DisableTorchFunctionSubclass", "torch._C.DisableTorchFunction", "torch._C._EnableTorchFunction"];

fn is_switch_class(class: &Bound<'_, PyType>) -> bool {
    SWITCHES.contains(&&*types::c_name(class))
}

/// Whether it is a class of such contexts, or what a `with` statement calls of one.
pub(in crate::domain::torch) fn is_switch(callable: &Bound<'_, PyAny>) -> bool {
    match callable.cast::<PyType>() {
        Ok(class) => is_switch_class(class),
        Err(_) => {
            types::is_c_class(&callable.get_type(), "method_descriptor")
                && callee::owner_of(callable).is_some_and(|owner| is_switch_class(&owner))
        }
    }
}

/// Makes such a context, begins it or ends it.
pub(in crate::domain::torch) fn switch<'py>(callable: &Bound<'py, PyAny>, args: &[Operand<'py>]) -> CallResult<'py> {
    if callable.is_instance_of::<PyType>() && args.is_empty() {
        return callable.call0().map(Answer::Constant).map_err(|error| fault(&error));
    }
    let name = callee::name_of(callable);
    let (Some(Operand::Known(context)), "__enter__" | "__exit__") = (args.first(), &*name) else {
        return Err(stop("unsupported form of a PyTorch call", name, "It begins or ends a mode."));
    };
    let set = || {
        let module = crate::ffi::modules::import(callable.py(), MODULE)?;
        let set = module.call_method1(name!("switch"), (context, name == "__enter__"))?;
        if set.is_none() { Ok(Answer::Constant(set)) } else { change(&set, Vec::new()) }
    };
    set().map_err(|error: PyErr| fault(&error))
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
    let follows = inspect::own_attribute(function, &interned(py, FOLLOWS)).is_some();
    if follows {
        // New tensors are told where they are: for the graph the mode is what it was.
        function_modes::leave();
    }
    Ok(Answer::ModeChange(Box::new(ModeChange {
        follows,
        undo: Some(call(&undo)?),
        restore: restore.as_ref().map(call).transpose()?,
        questions: questions.iter().map(call).collect::<PyResult<_>>()?,
        ..ModeChange::new((function.clone(), args))
    })))
}
