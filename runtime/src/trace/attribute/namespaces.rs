//! Dicts from outside that hold names: globals of modules, `__dict__` of instances.
//!
//! The trace reads, guards and writes one name at a time, in the overlays of `LOAD_GLOBAL` and `LOAD_ATTR`. It sees a dict of an instance as a
//! whole only where the program asks for that.
use crate::ffi::key_hashes::runs_code_for;
use crate::ffi::types;
use crate::guard::Check;
use crate::guard::source::Source;
use crate::names::{interned, name};
use crate::trace::attribute::descriptors::{
    has_plain_dict, held_dict, is_data_descriptor, own_dict, own_dict_allowed, short_name,
};
use crate::trace::state::arguments::Arguments;
use crate::trace::state::guard_requests::GuardRequest;
use crate::trace::state::namespaces::Namespace;
use crate::trace::state::outcome::Effect;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal, unsupported};
use crate::trace::state::value::{Value, ValueId};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyType};
use std::borrow::Cow;
use std::sync::Arc;

impl<'py> Tracer<'py> {
    /// The globals of code, as a value.
    pub(crate) fn globals_value(&mut self, globals: &Bound<'py, PyDict>) -> Traced<ValueId> {
        let value = match self.state.given_globals.contains_key(&(globals.as_ptr() as usize)) {
            true => self.globals_id(globals),
            false => self.absorb_static(globals.clone().into_any()),
        };
        if !matches!(self.value(value), Value::Real { .. }) {
            return Ok(value);
        }
        if self.state.private_copies.of(value).is_some() {
            return unsupported("globals that the trace has seen as a dict", "globals");
        }
        self.state.namespaces.insert(value, Namespace::Globals(globals.clone().unbind()));
        Ok(value)
    }

    /// `globals()`, asked by the innermost frame.
    pub(crate) fn current_globals(&mut self) -> Traced<ValueId> {
        let function = self.state.places.last().map(|place| place.function.bind(self.py).clone());
        let globals = function.and_then(|function| function.getattr(name!("__globals__")).ok());
        match globals.and_then(|globals| globals.cast_into::<PyDict>().ok()) {
            Some(globals) => self.globals_value(&globals),
            None => unsupported("builtin that depends on the interpreter's state", "globals"),
        }
    }

    /// `__dict__` of an object from outside.
    pub(crate) fn dict_from_outside(
        &mut self,
        real: &Bound<'py, PyAny>,
        source: Source,
        object: ValueId,
        class: &Bound<'py, PyType>,
    ) -> Traced<ValueId> {
        self.refuse_shared_dict(real)?;
        match own_dict(real) {
            Some(dict) if has_plain_dict(class) && dict.is_exact_instance_of::<PyDict>() => {
                Ok(self.instance_dict(object, dict.into_any(), source))
            }
            _ => unsupported("__dict__ of an object from outside", short_name(class)),
        }
    }

    /// A wrapper of this package has its original's `__dict__`: what lies there is the original's. Its class has a slot for what makes
    /// another one.
    pub(crate) fn refuse_shared_dict(&self, object: &Bound<'py, PyAny>) -> Traced<()> {
        let slot = types::lookup(&object.get_type(), intern!(self.py, "__again__"));
        match slot.is_some_and(|slot| types::is_c_class(&slot.get_type(), "member_descriptor")) {
            true => unsupported("__dict__ that two objects share", types::name(&object.get_type())),
            false => Ok(()),
        }
    }

    /// The `__dict__` of an object from outside, whatever its class has under that name; `None`: it has none.
    pub(crate) fn attributes_as_dict(&mut self, object: ValueId, real: &Bound<'py, PyAny>) -> Traced<Option<ValueId>> {
        let class = real.get_type();
        if !own_dict_allowed(&class) {
            return Ok(None);
        }
        self.refuse_shared_dict(real)?;
        let found = types::lookup(&class, &interned(self.py, "__dict__"));
        let plain = found.is_some_and(|found| types::is_c_class(&found.get_type(), "getset_descriptor"));
        match (own_dict(real), self.source(object), plain) {
            (Some(dict), Some(source), true) if !dict.is(real) => {
                Ok(Some(self.instance_dict(object, dict.into_any(), source)))
            }
            _ => unsupported("C function on an object with an unusual __dict__", short_name(&class)),
        }
    }

    /// `object.__dict__` of an instance from outside.
    pub(crate) fn instance_dict(&mut self, object: ValueId, dict: Bound<'py, PyAny>, source: Source) -> ValueId {
        let value = self.sourced(dict, Source::Dict(Arc::new(source)));
        if matches!(self.value(value), Value::Real { .. }) && self.state.private_copies.of(value).is_none() {
            self.state.namespaces.entry(value).or_insert(Namespace::Instance(object));
        }
        value
    }

    /// An attribute of an object from outside is set, or deleted.
    pub(crate) fn log_attr(&mut self, object: ValueId, name: &str, value: Option<ValueId>) -> Traced<()> {
        if let Some(dict) = self.dict_seen_whole(object) {
            crate::trace::state::journal::changed();
            self.state.seen_whole.get(&object).copied().map(|dict| self.state.aliases.changed.insert(dict));
            let stored = match value {
                Some(value) => dict.set_item(name, self.stored(value)?),
                None => dict.del_item(name),
            };
            return stored.or_else(|error| internal(error.to_string()));
        }
        let held = match value {
            Some(_) => self.instance_attr(object, name),
            None => self.held_attr(object, name),
        };
        let held = held?;
        self.before_overwriting(held)?;
        self.log_slot(object, name, value)
    }

    /// What the object's own `__dict__` holds under a name, where it matters that no other place has it: the path of an attribute leads to the
    /// class, too.
    fn held_attr(&mut self, object: ValueId, name: &str) -> Traced<Option<ValueId>> {
        let held = self.instance_attr(object, name)?;
        if let (Some(_), Some(real), Some(source)) = (held, self.real(object), self.source(object)) {
            let is_set = |effect: &Effect| matches!(effect, Effect::SetAttr { object: set, name: as_name, .. } if *set == object && as_name == name);
            let may_be_of_class = self.lookup(&real.get_type(), name).is_some();
            if may_be_of_class && self.owned(object).is_none() && !self.state.effects.iter().any(is_set) {
                self.guard_held(&real, &source, name);
            }
        }
        Ok(held)
    }

    /// Guards that the object itself has the attribute, and not its class alone.
    fn guard_held(&mut self, object: &Bound<'py, PyAny>, source: &Source, name: &str) {
        let Some(dict) = held_dict(object) else { return };
        let entry = Source::Dict(Arc::new(source.clone())).entry_of(&dict, &interned(self.py, name));
        self.guard(entry, Check::Exists, "the instance has an attribute that its class has, too");
    }

    /// The same where it does not live in a `__dict__`.
    pub(crate) fn log_slot(&mut self, object: ValueId, name: &str, value: Option<ValueId>) -> Traced<()> {
        self.set_slot_of_copy(object, name, value)?;
        self.state.attributes.change((object, name.to_owned()), value);
        self.state.effects.push(match value {
            Some(value) => Effect::SetAttr { object, name: name.to_owned(), value },
            None => Effect::DelAttr { object, name: name.to_owned() },
        });
        Ok(())
    }

    /// What a dict holds under a name; a break where C would ask another key, of the same hash, whether it is equal.
    pub(crate) fn held_in(&self, dict: &Bound<'py, PyDict>, name: &str) -> Traced<Option<Bound<'py, PyAny>>> {
        let name = interned(self.py, name);
        self.refuse_equal_keys(dict, &name)?;
        Ok(dict.get_item(name).ok().flatten())
    }

    /// Breaks where C would run code of the program, `__eq__` of a key, to find a name.
    pub(crate) fn refuse_equal_keys(&self, dict: &Bound<'py, PyDict>, name: &Bound<'py, PyString>) -> Traced<()> {
        match runs_code_for(dict, name) {
            true => unsupported("name that a key may be equal to", types::text(name)),
            false => Ok(()),
        }
    }

    /// Whether the value is a dict that is seen through names.
    pub(crate) fn is_namespace(&self, value: ValueId) -> bool {
        self.state.namespaces.contains_key(&value)
    }

    /// Whether the value is the globals of a module: C may keep them, but not look into them.
    pub(crate) fn is_globals(&self, value: ValueId) -> bool {
        matches!(self.state.namespaces.get(&value), Some(Namespace::Globals(_)))
    }

    /// A namespace is seen as a whole: only an instance's. Gives what the trace has changed in it so far.
    pub(crate) fn whole_namespace(&mut self, value: ValueId) -> Traced<Vec<(String, Option<ValueId>)>> {
        let Some(Namespace::Instance(object)) = self.state.namespaces.get(&value) else {
            return unsupported("namespace of a module, seen as a whole", "dict");
        };
        let object = *object;
        let changes = self.state.effects.iter().filter_map(|effect| match effect {
            Effect::SetAttr { object: changed, name, value } if *changed == object => {
                Some((name.clone(), Some(*value)))
            }
            Effect::DelAttr { object: changed, name } if *changed == object => Some((name.clone(), None)),
            _ => None,
        });
        let mut changes: Vec<_> = changes.collect();
        if !changes.is_empty() {
            self.state.attributes.is_seen.set(true);
        }
        let class = self.class_of(object)?;
        changes.retain(|(name, _)| !self.lookup(&class, name).is_some_and(|found| is_data_descriptor(&found)));
        self.state.seen_whole.insert(object, value);
        self.state.namespaces.remove(&value);
        Ok(changes)
    }

    /// The copy of an instance's `__dict__` that stands for its attributes, once it was seen as a whole.
    pub(crate) fn dict_seen_whole(&self, object: ValueId) -> Option<Bound<'py, PyDict>> {
        let value = self.state.seen_whole.get(&object)?;
        self.state.private_copies.of(*value)?.object.bind(self.py).clone().cast_into::<PyDict>().ok()
    }

    fn name_in(&mut self, names: ValueId, key: ValueId) -> Traced<String> {
        let name = self.known(key).filter(|key| key.is_exact_instance_of::<PyString>());
        let Some(name) = name.and_then(|name| name.extract::<String>().ok()) else {
            return unsupported("key of a namespace that is no known name", "dict");
        };
        if let Some(Namespace::Instance(object)) = self.state.namespaces.get(&names) {
            let class = self.class_of(*object)?;
            if self.lookup(&class, &name).is_some_and(|found| is_data_descriptor(&found)) {
                return unsupported("entry of a __dict__ that a descriptor hides", name);
            }
        }
        Ok(name)
    }

    fn get_name(&mut self, names: ValueId, key: ValueId) -> Traced<Option<ValueId>> {
        let name = self.name_in(names, key)?;
        match self.state.namespaces.get(&names) {
            Some(Namespace::Globals(globals)) => {
                let globals = globals.bind(self.py).clone();
                Ok(self.in_globals(&globals, &name))
            }
            Some(Namespace::Instance(object)) => self.held_attr(*object, &name),
            None => internal("no namespace"),
        }
    }

    fn set_name(&mut self, names: ValueId, key: ValueId, value: Option<ValueId>) -> Traced<()> {
        let name = self.name_in(names, key)?;
        match self.state.namespaces.get(&names) {
            Some(Namespace::Globals(globals)) => {
                let globals = globals.bind(self.py).clone();
                match value {
                    Some(value) => self.set_in_globals(globals, &name, value)?,
                    None => drop(self.delete_in_globals(globals, &name)?),
                }
            }
            Some(Namespace::Instance(object)) => {
                let object = *object;
                self.log_attr(object, &name, value)?;
            }
            None => return internal("no namespace"),
        }
        Ok(())
    }

    pub(crate) fn raise_key_error<T>(&mut self, key: ValueId) -> Traced<T> {
        let class = self.import("builtins", "KeyError")?;
        let key = self.native(key)?;
        let error = class.call1((key,)).or_else(|error| self.raise_error(error))?;
        let error = self.own(error);
        self.raise_value(error)
    }

    /// An operator on a namespace; `None`: on something else.
    pub(crate) fn namespace_operator(&mut self, name: &str, operands: &[ValueId]) -> Traced<Option<ValueId>> {
        let Some(names) = operands.first().copied().filter(|first| self.is_namespace(*first)) else { return Ok(None) };
        match (name, operands) {
            ("getitem", [_, key]) => match self.get_name(names, *key)? {
                Some(value) => Ok(Some(value)),
                None => self.raise_key_error(*key),
            },
            ("contains", [_, key]) => {
                let found = self.get_name(names, *key)?.is_some();
                Ok(Some(self.boolean(found)))
            }
            ("setitem", [_, key, value]) => {
                self.set_name(names, *key, Some(*value))?;
                Ok(Some(self.none()))
            }
            ("delitem", [_, key]) => {
                if self.get_name(names, *key)?.is_none() {
                    return self.raise_key_error(*key);
                }
                self.set_name(names, *key, None)?;
                Ok(Some(self.none()))
            }
            _ => Ok(None),
        }
    }

    /// A method of `dict` on a namespace; `None`: it needs the whole.
    pub(crate) fn namespace_method(&mut self, name: &str, args: &Arguments) -> Traced<Option<ValueId>> {
        let operands = args.positional.as_slice();
        let Some(names) = operands.first().copied().filter(|first| self.is_namespace(*first)) else { return Ok(None) };
        if !args.keywords.is_empty() {
            return Ok(None);
        }
        match (name, operands) {
            ("__getitem__" | "__contains__" | "__setitem__" | "__delitem__", _) => {
                self.namespace_operator(name.trim_matches('_'), operands)
            }
            ("get", [_, key, default @ ..]) if default.len() < 2 => {
                let found = self.get_name(names, *key)?.or(default.first().copied());
                Ok(Some(found.unwrap_or_else(|| self.none())))
            }
            ("setdefault", [_, key, default @ ..]) if default.len() < 2 => {
                if let Some(found) = self.get_name(names, *key)? {
                    return Ok(Some(found));
                }
                let default = default.first().copied().unwrap_or_else(|| self.none());
                self.set_name(names, *key, Some(default))?;
                Ok(Some(default))
            }
            ("pop", [_, key, default @ ..]) if default.len() < 2 => {
                match (self.get_name(names, *key)?, default.first().copied()) {
                    (Some(found), _) => {
                        self.set_name(names, *key, None)?;
                        Ok(Some(found))
                    }
                    (None, Some(default)) => Ok(Some(default)),
                    (None, None) => self.raise_key_error(*key),
                }
            }
            _ => Ok(None),
        }
    }

    /// The names in the globals of a module, which the trace has not changed, as a list.
    pub(crate) fn namespace_names(&mut self, names: ValueId) -> Traced<Option<ValueId>> {
        let Some(Namespace::Globals(globals)) = self.state.namespaces.get(&names) else { return Ok(None) };
        let globals = globals.bind(self.py).clone();
        let changed = |value: &ValueId| self.real(*value).is_some_and(|dict| dict.is(&globals));
        let touched = self.state.effects.iter().any(|effect| match effect {
            Effect::SetGlobal { globals, .. } | Effect::DelGlobal { globals, .. } => changed(globals),
            _ => false,
        });
        if touched || !globals.keys().iter().all(|key| crate::trace::value::kinds::is_scalar(&key)) {
            return unsupported("namespace of a module, seen as a whole", "dict");
        }
        let keys = globals.keys();
        let source = self.source(names).unwrap_or_else(|| Source::constant(&globals));
        let guard_requests = keys.to_tuple().into_any().unbind();
        self.guard_once(
            names,
            GuardRequest::NAMES,
            source,
            Check::Keys(guard_requests),
            "the trace read the names of a module",
        );
        Ok(Some(self.own(keys.into_any())))
    }

    /// The arguments of a callable of C that only iterates over what it gets: names stand for the globals of a module.
    pub(crate) fn names_for<'a>(
        &mut self,
        callable: &Bound<'py, PyAny>,
        args: &'a Arguments,
    ) -> Traced<Cow<'a, Arguments>> {
        const ITERATE: [&str; 5] = ["list", "tuple", "set", "frozenset", "sorted"];
        let mut args = Cow::Borrowed(args);
        if let Some(first) = args.positional.first().copied()
            && (self.is_namespace(first) || self.behind_view(first).is_some())
            && ITERATE.iter().any(|name| self.import("builtins", name).is_ok_and(|found| found.is(callable)))
        {
            let behind = match self.behind_view(first) {
                Some(dict) => Some(dict),
                None => self.namespace_names(first)?,
            };
            args.to_mut().positional[0] = behind.unwrap_or(first);
        }
        Ok(args)
    }

    /// Whether a namespace holds anything: globals that have `__name__` or `__builtins__` do.
    pub(crate) fn namespace_truth(&mut self, names: ValueId) -> Option<bool> {
        let Some(Namespace::Globals(globals)) = self.state.namespaces.get(&names) else { return None };
        let globals = globals.bind(self.py).clone();
        let found = self.in_globals(&globals, "__builtins__").or_else(|| self.in_globals(&globals, "__name__"));
        found.map(|_| true)
    }
}
