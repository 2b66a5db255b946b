//! Functions that look at their own frame, or have somebody told of frames: a graph break would show them another one, with other code.
use crate::bytecode::Code;
use crate::ffi::inspect::{function_code, globals};
use crate::ffi::key_hashes::runs_code_for;
use crate::ffi::{callee, types};
use crate::names::{interned, name};
use crate::trace::call::effects::observers;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyFunction, PyModule, PyTuple};

/// The functions of `sys` that give frames.
const GIVE_FRAMES: [&str; 2] = ["_getframe", "_current_frames"];

/// Whether a function of `sys` with this name gives frames, or has somebody told of them.
fn is_name_of_one(name: &str) -> bool {
    GIVE_FRAMES.contains(&name) || observers::is_name_of_one(name)
}

/// What a function names that gives frames or has somebody told of them: a function of `sys`, or one of Python code that names such a
/// function, as `inspect.currentframe` does. Names are looked for in its globals, and in modules that these hold; no code runs.
#[must_use]
pub fn names_frames(function: &Bound<'_, PyAny>, code: &Code) -> Option<String> {
    let py = function.py();
    if let Some(found) = code.names.iter().find(|name| is_name_of_one(name)) {
        return Some(found.clone());
    }
    let globals = globals(function)?.cast_into_exact::<PyDict>().ok()?;
    let entry = |dict: &Bound<'_, PyDict>, name: &str| {
        let name = interned(py, name);
        if runs_code_for(dict, &name) { None } else { dict.get_item(name).ok().flatten().map(Bound::unbind) }
    };
    code.names.iter().find_map(|name| {
        let found = entry(&globals, name)?.into_bound(py);
        if found.is_exact_instance_of::<PyModule>() {
            let module = types::held_dict(&found)?;
            let gives =
                |attribute: &&String| entry(&module, attribute).is_some_and(|found| gives_frames(found.bind(py)));
            return code.names.iter().find(gives).cloned();
        }
        gives_frames(&found).then(|| name.clone())
    })
}

/// Whether it is a function of `sys` that gives frames or has somebody told of them, or one of Python code that names one.
fn gives_frames(object: &Bound<'_, PyAny>) -> bool {
    if object.is_exact_instance_of::<PyCFunction>() {
        let (name, module) = (callee::name_of(object), callee::module_of(object));
        return GIVE_FRAMES.contains(&&*name) && module == "sys" || observers::sets_observers(&module, &name);
    }
    if !object.is_exact_instance_of::<PyFunction>() {
        return false;
    }
    let names = function_code(object).and_then(|code| code.getattr(name!("co_names")).ok());
    let names = names.and_then(|names| names.cast_into_exact::<PyTuple>().ok());
    names.is_some_and(|names| names.iter().any(|name| is_name_of_one(&types::text(&name))))
}
