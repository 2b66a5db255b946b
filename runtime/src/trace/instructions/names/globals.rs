//! Globals and builtins.
use crate::ffi::code::name_at;
use crate::ffi::inspect::is_exact_dict;
use crate::ffi::snapshot;
use crate::guard::Check;
use crate::guard::source::Source;
use crate::names::{interned, name};
use crate::trace::state::frame::{Flow, Frame};
use crate::trace::state::namespaces::Global;
use crate::trace::state::outcome::Effect;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use std::sync::Arc;

impl<'py> Tracer<'py> {
    /// A name as `LOAD_GLOBAL` looks for it: where globals or builtins are no plain dict, both are asked as mappings.
    pub(crate) fn global_or_builtin(
        &mut self,
        frame: &Frame,
        text: &str,
        name: &Bound<'py, PyString>,
    ) -> Traced<Option<ValueId>> {
        if self.has_plain_names(frame) {
            return self.frame_global(frame, text, name);
        }
        match self.in_mapping(frame.globals.bind(self.py).clone().into_any(), text)? {
            Some(value) => Ok(Some(value)),
            None => self.frame_builtin(frame, text, name),
        }
    }

    /// Whether looking for a name in globals and builtins runs no code of the program.
    pub(crate) fn has_plain_names(&self, frame: &Frame) -> bool {
        is_exact_dict(frame.globals.bind(self.py)) && is_exact_dict(frame.builtins.bind(self.py))
    }

    /// A global or builtin by name, as `LOAD_NAME` looks for it: globals are a dict, whatever their class has.
    pub(crate) fn frame_global(
        &mut self,
        frame: &Frame,
        text: &str,
        name: &Bound<'py, PyString>,
    ) -> Traced<Option<ValueId>> {
        let globals = frame.globals.bind(self.py).clone();
        self.refuse_equal_keys(&globals, name)?;
        match self.in_globals_by(&globals, text, name) {
            Some(value) => Ok(Some(value)),
            None => self.frame_builtin(frame, text, name),
        }
    }

    /// A builtin by name, with the guards that say that it is found there.
    pub(crate) fn frame_builtin(
        &mut self,
        frame: &Frame,
        text: &str,
        name: &Bound<'py, PyString>,
    ) -> Traced<Option<ValueId>> {
        let builtins = match frame.builtins.bind(self.py).clone().cast_into_exact::<PyDict>() {
            Ok(builtins) => builtins,
            Err(other) => return self.in_mapping(other.into_inner(), text),
        };
        self.refuse_equal_keys(&builtins, name)?;
        if self.is_private(&builtins) {
            return Ok(builtins.get_item(name).ok().flatten().map(|value| self.absorb(value)));
        }
        // The path of a builtin leads to the interpreter's own builtins, and a guard looks in those of the outermost function.
        let shared = self.state.has_interpreter_builtins && snapshot::is_builtins(&builtins);
        let untouched = shared
            && self.globals_copy(&builtins).is_none()
            && !self.state.globals.contains_key(&Global::of(&builtins, name));
        match builtins.get_item(name) {
            Ok(Some(object)) if untouched => Ok(Some(self.sourced(object, Source::Builtin(text.into())))),
            _ => Ok(self.in_globals_by(&builtins, text, name)),
        }
    }

    /// What an object that stands for globals or builtins gives for a name; `None`: it raises `KeyError`.
    fn in_mapping(&mut self, mapping: Bound<'py, PyAny>, text: &str) -> Traced<Option<ValueId>> {
        let given = self.state.given_globals.get(&(mapping.as_ptr() as usize)).copied();
        let mapping = given.unwrap_or_else(|| self.absorb_static(mapping));
        self.in_namespace(mapping, text)
    }

    /// The private copy of globals that the trace has seen as a dict like any other.
    fn globals_copy(&mut self, globals: &Bound<'py, PyDict>) -> Option<Bound<'py, PyDict>> {
        if self.state.private_copies.is_empty() {
            return None;
        }
        let id = self.globals_id(globals);
        self.state.private_copies.of(id)?.object.bind(self.py).clone().cast_into::<PyDict>().ok()
    }

    /// What the namespace of a module holds, as the trace has left it.
    pub(crate) fn in_globals(&mut self, globals: &Bound<'py, PyDict>, name: &str) -> Option<ValueId> {
        let interned = interned(self.py, name);
        self.in_globals_by(globals, name, &interned)
    }

    /// The same where the interned name is at hand.
    fn in_globals_by(
        &mut self,
        globals: &Bound<'py, PyDict>,
        text: &str,
        name: &Bound<'py, PyString>,
    ) -> Option<ValueId> {
        if self.is_private(globals) {
            return globals.get_item(name).ok().flatten().map(|value| self.absorb(value));
        }
        if let Some(copy) = self.globals_copy(globals) {
            return copy.get_item(name).ok().flatten().map(|value| self.absorb(value));
        }
        let key = Global::of(globals, name);
        if let Some(overlay) = self.state.globals.get(&key) {
            return *overlay;
        }
        let value = match globals.get_item(name) {
            Ok(Some(object)) => {
                let path = self.global_source(globals, text);
                Some(self.sourced(object, path))
            }
            _ => {
                let dict = self.globals_path(globals);
                let absent = Check::Absent(name.clone().into_any().unbind());
                self.guard(dict, absent, "the name is not a global");
                None
            }
        };
        // A dict that the trace changes must be another one.
        self.globals_id(globals);
        self.see_global(name, key, value);
        value
    }

    /// The key is the name's address: it stays alive as long.
    fn see_global(&mut self, name: &Bound<'py, PyString>, key: Global, value: Option<ValueId>) {
        self.state.global_names.push(name.clone().unbind());
        self.state.globals.see(key, value);
    }

    /// From here on the trace takes a name to hold this, without a change that compiled code makes.
    pub(crate) fn overlay_global(&mut self, globals: &Bound<'py, PyDict>, name: &str, value: ValueId) {
        self.change_global(globals, name, Some(value));
    }

    fn change_global(&mut self, globals: &Bound<'py, PyDict>, name: &str, value: Option<ValueId>) {
        let name = interned(self.py, name);
        self.state.globals.change(Global::of(globals, &name), value);
        self.state.global_names.push(name.unbind());
    }

    /// Stores into the namespace of a module.
    pub(crate) fn set_in_globals(&mut self, globals: Bound<'py, PyDict>, name: &str, value: ValueId) -> Traced<()> {
        crate::trace::state::journal::changed();
        if self.is_private(&globals) {
            let value = self.native(value)?;
            return globals.set_item(name, value).or_else(|error| internal(error.to_string()));
        }
        if let Some(copy) = self.globals_copy(&globals) {
            let value = self.native(value)?;
            return copy.set_item(name, value).or_else(|error| internal(error.to_string()));
        }
        refuse_derived(&globals)?;
        self.refuse_equal_keys(&globals, &interned(self.py, name))?;
        let held = self.in_globals(&globals, name);
        self.before_overwriting(held)?;
        self.change_global(&globals, name, Some(value));
        let globals = self.globals_value(&globals)?;
        self.state.effects.push(Effect::SetGlobal { globals, name: name.to_owned(), value });
        Ok(())
    }

    /// Deletes from the namespace of a module; whether the name was there.
    pub(crate) fn delete_in_globals(&mut self, globals: Bound<'py, PyDict>, name: &str) -> Traced<bool> {
        crate::trace::state::journal::changed();
        if self.is_private(&globals) {
            return Ok(globals.del_item(name).is_ok());
        }
        if let Some(copy) = self.globals_copy(&globals) {
            return Ok(copy.del_item(name).is_ok());
        }
        refuse_derived(&globals)?;
        self.refuse_equal_keys(&globals, &interned(self.py, name))?;
        let Some(held) = self.in_globals(&globals, name) else { return Ok(false) };
        self.before_overwriting(Some(held))?;
        self.change_global(&globals, name, None);
        let globals = self.globals_value(&globals)?;
        self.state.effects.push(Effect::DelGlobal { globals, name: name.to_owned() });
        Ok(true)
    }

    fn global_source(&self, globals: &Bound<'py, PyDict>, name: &str) -> Source {
        if globals.as_ptr() as usize == self.state.outer_globals {
            return Source::Global(name.into());
        }
        self.globals_path(globals).entry(self.py, name)
    }

    /// How compiled code gets the globals: it keeps those of modules and functions.
    fn globals_path(&self, globals: &Bound<'py, PyDict>) -> Source {
        let given = self.state.given_globals.get(&(globals.as_ptr() as usize));
        given.and_then(|given| self.source(*given)).unwrap_or_else(|| Source::constant(globals))
    }

    /// The globals as a value, without a look at them.
    pub(crate) fn globals_id(&mut self, globals: &Bound<'py, PyDict>) -> ValueId {
        match self.state.given_globals.get(&(globals.as_ptr() as usize)) {
            Some(given) => *given,
            None => self.constant(globals.clone().into_any()),
        }
    }

    /// Breaks where a function or a module from outside has a dict for its globals that the caller gave: at the next call these may be two.
    pub(crate) fn refuse_given_globals(&self, globals: Option<&Bound<'py, PyAny>>) -> Traced<()> {
        let given = &self.state.given_globals;
        match globals.is_some_and(|globals| given.contains_key(&(globals.as_ptr() as usize))) {
            true => unsupported("globals that are a dict of the caller, too", "globals"),
            false => Ok(()),
        }
    }

    /// Whether globals are those of this call alone: of the trace's own, or a dict that the caller gave.
    pub(crate) fn are_of_one_call(&self, globals: &Bound<'py, PyAny>) -> bool {
        self.is_made_here(globals) || self.state.given_globals.contains_key(&(globals.as_ptr() as usize))
    }

    pub(crate) fn load_global(&mut self, frame: &mut Frame, arg: u32) -> Traced<Flow> {
        let code = Arc::clone(&frame.code);
        let index = arg as usize >> 1;
        let (Some(text), Some(name)) = (code.names.get(index), name_at(code.original.bind(self.py), index)) else {
            return internal("name index");
        };
        let Some(value) = self.global_or_builtin(frame, text, &name)? else {
            return self.raise_name_error(text);
        };
        self.refuse_lazy_import(value, text)?;
        if arg & 1 == 1 {
            frame.push_callable(value, None)
        } else {
            frame.push(value)
        }
        Ok(Flow::Next)
    }

    pub(crate) fn raise_name_error<T>(&mut self, name: &str) -> Traced<T> {
        let class = self.import("builtins", "NameError")?;
        match class.call1((format!("name '{name}' is not defined"),)) {
            Ok(exception) => {
                let _ = exception.setattr(name!("name"), name);
                let value = self.own(exception);
                self.raise_value(value)
            }
            Err(error) => internal(error.to_string()),
        }
    }

    pub(crate) fn store_global(&mut self, frame: &mut Frame, index: u32) -> Traced<Flow> {
        let name = frame.name(index)?.to_owned();
        let value = frame.pop()?;
        self.set_in_globals(frame.globals.bind(self.py).clone(), &name, value)?;
        Ok(Flow::Next)
    }

    pub(crate) fn delete_global(&mut self, frame: &mut Frame, index: u32) -> Traced<Flow> {
        let name = frame.name(index)?.to_owned();
        let there = self.delete_in_globals(frame.globals.bind(self.py).clone(), &name)?;
        if there { Ok(Flow::Next) } else { self.raise_name_error(&name) }
    }
}

/// Instructions write into the dict itself; what compiled code does would ask the class.
fn refuse_derived(globals: &Bound<'_, PyDict>) -> Traced<()> {
    match is_exact_dict(globals) {
        true => Ok(()),
        false => unsupported("global variable in an object that is no plain dict", "globals"),
    }
}
