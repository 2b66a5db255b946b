//! Calls of C objects from outside that the tracer understands: partial functions, context variables, objects that are all in their members.
use crate::ffi::types;
use crate::guard::Check;
use crate::guard::source::Source;
use crate::names::name;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::guard_requests::GuardRequest;
use crate::trace::state::outcome::Effect;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal, unsupported};
use crate::trace::state::value::{New, Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};

/// Classes whose objects are made of an object with attributes, which their members, all of them read-only, say again.
const SAID_BY_MEMBERS: &[&str] = &["_json.Scanner"];

/// What a guard compares with a context variable.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
struct Holds {
    /// `None`: nothing is set.
    value: Option<Py<PyAny>>,
}

#[pymethods]
impl Holds {
    /// Whether the variable has the value that it had.
    fn __call__(&self, variable: &Bound<'_, PyAny>) -> PyResult<bool> {
        let now = held(variable)?;
        Ok(match (&self.value, &now) {
            (Some(then), Some(now)) => now.is(then),
            (then, now) => then.is_none() && now.is_none(),
        })
    }
}

/// What a context variable is set to.
fn held<'py>(variable: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    // No program sets a variable to this new object.
    let missing = variable.py().get_type::<PyAny>().call0()?;
    Ok(Some(variable.call_method1(name!("get"), (&missing,))?).filter(|value| !value.is(&missing)))
}

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
            if types::c_name(&member.get_type()) == "member_descriptor" {
                let value = self.get_attr(original, &name)?;
                let native = self.native(value)?;
                said.setattr(name, native).or_else(|error| self.raise_error(error))?;
            }
        }
        let made = self.with_callbacks(|| class.call1((said,)));
        made.map(Some).or_else(|error| self.raise_error(error))
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

    /// `get` and `set` of a context variable from outside; `None`: another method.
    pub(crate) fn context_method(
        &mut self,
        method: &Bound<'py, PyAny>,
        owner: &Bound<'py, PyType>,
        name: &str,
        args: &Arguments,
    ) -> Traced<Option<ValueId>> {
        let named = matches!(&*types::c_name(owner), "_contextvars.ContextVar" | "ContextVar");
        if !named || !args.keywords.is_empty() {
            return Ok(None);
        }
        let Some((variable, rest)) = args.positional.split_first() else { return Ok(None) };
        let Some(object) = self.real(*variable).and_then(|_| self.same_object(*variable)) else { return Ok(None) };
        match (name, rest) {
            ("get", []) => self.context_value(*variable, &object, None).map(Some),
            ("get", [default]) => self.context_value(*variable, &object, Some(*default)).map(Some),
            ("set", [value]) => {
                let callable = self.constant(method.clone());
                self.state.effects.push(Effect::Call { callable, args: vec![*variable, *value] });
                self.state.context.insert(*variable, *value);
                Ok(Some(self.push(Value::New(New::Opaque("_contextvars.Token")))))
            }
            _ => Ok(None),
        }
    }

    fn context_value(
        &mut self,
        variable: ValueId,
        object: &Bound<'py, PyAny>,
        default: Option<ValueId>,
    ) -> Traced<ValueId> {
        if let Some(set) = self.state.context.get(&variable) {
            return Ok(*set);
        }
        let now = held(object).or_else(|error| internal(error.to_string()))?;
        let holds = Holds { value: now.as_ref().map(|now| now.clone().unbind()) };
        let check = Bound::new(self.py, holds).or_else(|error| internal(error.to_string()))?;
        let check = Check::Call(check.into_any().unbind());
        self.guard_once(
            variable,
            GuardRequest::CONTEXT,
            Source::constant(object),
            check,
            "the trace read a context variable",
        );
        match (now, default) {
            (Some(now), _) => Ok(self.absorb_static(now)),
            (None, Some(default)) => Ok(default),
            // What the variable was made with, or a `LookupError`.
            (None, None) => match object.call_method0(name!("get")) {
                Ok(value) => Ok(self.absorb_static(value)),
                Err(error) => self.raise_error(error),
            },
        }
    }
}
