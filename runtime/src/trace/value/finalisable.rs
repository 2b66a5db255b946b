//! Says whether the end of a real object runs code of the program.
use crate::ffi::{callee, inspect, referents, types};
use crate::names::{interned, name};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyCapsule, PyCode, PyFunction, PyModule, PyString, PyType};

/// Objects that one search for what an object holds visits.
const MAX_SEARCHED: usize = 5_000;

/// References that the search looks at behind an object that compiled code would keep.
pub(crate) const MAX_KEPT: usize = 100;

/// What outlives every call that uses it: only the collector ends it.
pub(crate) fn is_lasting(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyType>() || object.is_instance_of::<PyModule>() || object.is_exact_instance_of::<PyCode>()
}

/// Whether code of the program runs when the object ends, or what only it holds. What functions hold they need: it is not looked at.
pub(crate) fn leads_to_code(object: &Bound<'_, PyAny>) -> bool {
    !crate::trace::value::kinds::is_scalar(object)
        && !is_lasting(object)
        && !object.is_callable()
        && ending_runs_code(object, &|_| 0)
}

pub(crate) fn ending_runs_code(object: &Bound<'_, PyAny>, own: &dyn Fn(usize) -> usize) -> bool {
    !crate::trace::value::kinds::is_scalar(object)
        && referents::freed_with(vec![object.clone()], MAX_KEPT, own).iter().any(is_finalisable)
}

/// What the object holds, as far as it is not the world that it lives in.
pub(crate) fn strongly_held<'py>(object: &Bound<'py, PyAny>) -> Vec<Bound<'py, PyAny>> {
    if is_lasting(object) || crate::trace::value::kinds::is_scalar(object) {
        return Vec::new();
    }
    let held = referents::direct(object, MAX_SEARCHED);
    if !object.is_exact_instance_of::<PyFunction>() {
        return held;
    }
    let world = [inspect::globals(object), inspect::builtins(object)];
    held.into_iter().filter(|held| !world.iter().flatten().any(|world| world.is(held))).collect()
}

/// Whether code of the program runs when the object ends: a finaliser, the callback of a weak reference, the rest of a generator, the warning
/// that nobody awaited a coroutine.
pub(crate) fn is_finalisable(object: &Bound<'_, PyAny>) -> bool {
    if !referents::is_end_observed(object) || is_lasting(object) {
        return false;
    }
    let (py, class) = (object.py(), object.get_type());
    let is = |name: &Bound<'_, PyString>| object.getattr(name).is_ok_and(|found| found.is_truthy().unwrap_or(false));
    match &*types::c_name(&class) {
        "generator" => is(intern!(py, "gi_suspended")),
        // It waits, or nothing of it has run: then it has a frame, which is asked for last, for that makes an object.
        "coroutine" => is(intern!(py, "cr_suspended")) || !is(intern!(py, "cr_running")) && is(intern!(py, "cr_frame")),
        "async_generator" => is(intern!(py, "ag_suspended")),
        _ => !referents::is_finalised(object) && has_finaliser(&class) || has_callback(object, &class),
    }
}

/// Whether the end of instances runs a `__del__`: of Python, of C where it may warn, or C's own of files, which asks for methods of Python.
/// CPython: `iobase_finalize`.
pub(crate) fn has_finaliser(class: &Bound<'_, PyType>) -> bool {
    const ASKED: [&str; 7] =
        ["close", "closed", "flush", "_finalizing", "__getattribute__", "__getattr__", "__setattr__"];
    let Some(found) = types::lookup(class, intern!(class.py(), "__del__")) else { return false };
    let python = |name: &str| {
        let found = types::lookup(class, &interned(class.py(), name));
        found.is_some_and(|found| callee::owner_of(&found).is_none())
    };
    let of_files = callee::owner_of(&found).is_some_and(|owner| types::is_c_class(&owner, "_io._IOBase"));
    !of_files || ASKED.into_iter().any(python)
}

pub(crate) fn has_callback(object: &Bound<'_, PyAny>, class: &Bound<'_, PyType>) -> bool {
    if types::weaklistoffset(class) == 0 {
        return false;
    }
    let py = object.py();
    let references = crate::ffi::snapshot::original(py, "_weakref", "getweakrefs").and_then(|get| get.call1((object,)));
    references.and_then(|references| references.try_iter()).is_ok_and(|references| {
        references.flatten().any(|reference| {
            let callback = reference.getattr(intern!(py, "__callback__"));
            callback.is_ok_and(|callback| !callback.is_none() && !is_own(&callback) && !is_of_compilers(&callback))
        })
    })
}

/// Whether it does nothing but forget the object in a table that a library's compilers keep beside it, which no program sees.
fn is_of_compilers(callback: &Bound<'_, PyAny>) -> bool {
    const CALLBACKS: &[(&str, &str)] = &[("torch.utils.weak", "WeakIdKeyDictionary.__init__.<locals>.remove")];
    if !callback.is_exact_instance_of::<PyFunction>() {
        return false;
    }
    let name = callee::qualname_of(callback);
    let module = || inspect::globals(callback)?.get_item(name!("__name__")).ok()?.extract::<String>().ok();
    CALLBACKS.iter().any(|(room, known)| name == *known && module().is_some_and(|module| module == *room))
}

/// Whether it is a function of this crate, as the caches have them, which no program notices.
pub(crate) fn is_own(callback: &Bound<'_, PyAny>) -> bool {
    let receiver = callback.cast::<PyCFunction>().ok().and_then(|function| function.getattr(name!("__self__")).ok());
    receiver.is_some_and(|receiver| receiver.is_exact_instance_of::<PyCapsule>())
}
