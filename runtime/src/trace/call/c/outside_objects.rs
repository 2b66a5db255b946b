//! Calls of C objects from outside that the tracer understands: partial functions, objects that are all in their members.
use crate::ffi::types;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};

/// Classes whose objects are made of an object with attributes, which their members, all of them read-only, say again.
const SAID_BY_MEMBERS: &[&str] = &["_json.Scanner"];

impl<'py> Tracer<'py> {
    /// An object of C that does what one from outside does, with what C gets for its members; `None`: it is of another class.
    pub(crate) fn twin(&mut self, original: ValueId, class: &Bound<'py, PyType>) -> Traced<Option<Bound<'py, PyAny>>> {
        if !SAID_BY_MEMBERS.contains(&&*types::c_name(class)) {
            return Ok(None);
        }
        let members = class.getattr("__dict__").and_then(|held| held.call_method0("items")?.try_iter()?.collect());
        let members: Vec<(String, Bound<'py, PyAny>)> = members
            .and_then(|items: Vec<Bound<'py, PyAny>>| items.iter().map(|item| item.extract()).collect())
            .or_else(|error: PyErr| internal(error.to_string()))?;
        let said = self.import("types", "SimpleNamespace")?.call0().or_else(|error| self.raise_error(error))?;
        for (name, member) in members {
            if types::is_c_class(&member.get_type(), "member_descriptor") {
                let value = self.get_attr(original, &name)?;
                let native = self.native(value)?;
                said.setattr(name, native).or_else(|error| self.raise_error(error))?;
            }
        }
        let made = self.with_callbacks(|| class.call1((said,)));
        made.map(Some).or_else(|error| self.raise_error(error))
    }

    /// What a method of C gives on an object from outside without a copy of it; `None`: it needs one, or none at all.
    pub(crate) fn call_on_outside(
        &mut self,
        method: &Bound<'py, PyAny>,
        name: &str,
        owner: Option<&Bound<'py, PyType>>,
        args: &Arguments,
    ) -> Traced<Option<ValueId>> {
        let Some(owner) = owner.filter(|_| args.keywords.is_empty()) else { return Ok(None) };
        if let Some(item) = self.next_by_name(name, &args.positional)? {
            return Ok(Some(item));
        }
        if let Some(number) = self.drawn(name, owner, &args.positional)? {
            return Ok(Some(number));
        }
        if let Some(none) = self.append_unread(name, owner, &args.positional)? {
            return Ok(Some(none));
        }
        if let Some(given) = self.change_entry(name, owner, &args.positional)? {
            return Ok(Some(given));
        }
        match self.view_of_unusual(method, name, &args.positional)? {
            Some(view) => Ok(Some(view)),
            None => self.thread_local_method(owner, name, &args.positional),
        }
    }

    /// CPython: `ga_call`, `set_orig_class`.
    pub(crate) fn call_alias(&mut self, alias: ValueId, args: Arguments) -> Traced<ValueId> {
        let origin = self.get_attr(alias, "__origin__")?;
        let made = self.call_deeper(origin, args)?;
        let has_no_place = |made: &Bound<'py, PyAny>| match made.cast::<PyType>() {
            Ok(class) => types::is_immutable(class),
            Err(_) => !crate::trace::attribute::descriptors::own_dict_allowed(&made.get_type()),
        };
        if self.known(made).as_ref().is_some_and(has_no_place) {
            return Ok(made);
        }
        match self.set_attr(made, "__orig_class__", Some(alias)) {
            Err(signal) if self.raised_is(&signal, "AttributeError")? || self.raised_is(&signal, "TypeError")? => {
                Ok(made)
            }
            set => set.map(|()| made),
        }
    }

    /// `partial(function, …)(…)`. CPython: `partial_call`.
    pub(crate) fn call_partial(&mut self, partial: ValueId, args: Arguments) -> Traced<ValueId> {
        let function = self.get_attr(partial, "func")?;
        let (first, named) = (self.get_attr(partial, "args")?, self.get_attr(partial, "keywords")?);
        let (first, named) = (self.native(first)?, self.native(named)?);
        let (Ok(first), Ok(named)) = (first.cast_into_exact::<PyTuple>(), named.cast_into_exact::<PyDict>()) else {
            return unsupported("call of a C object", "functools.partial with arguments of unusual classes");
        };
        let mut positional: Vec<_> = first.iter().map(|item| self.absorb(item)).collect();
        for value in &positional {
            if types::is_c_class(&self.class_of(*value)?, "functools._PlaceholderType") {
                return unsupported("call of a C object", "functools.partial with placeholders");
            }
        }
        positional.extend(args.positional);
        let mut keywords = Vec::new();
        for (name, value) in named.iter() {
            let Ok(name) = name.cast_into_exact::<PyString>() else {
                return unsupported("call of a C object", "functools.partial with names of unusual classes");
            };
            keywords.push((types::text(&name), self.absorb(value)));
        }
        for (name, value) in args.keywords {
            match keywords.iter_mut().find(|(known, _)| *known == name) {
                Some(known) => known.1 = value,
                None => keywords.push((name, value)),
            }
        }
        self.call_deeper(function, Arguments { positional, keywords, ..Arguments::default() })
    }
}
