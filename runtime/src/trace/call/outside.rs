//! Objects of C from outside whose calls need not be left to C: partial functions, and context variables.
use super::Arguments;
use crate::guard::Check;
use crate::guard::source::Source;
use crate::trace::outcome::Effect;
use crate::trace::signal::{Traced, internal, unsupported};
use crate::trace::state::Tracer;
use crate::trace::value::{New, Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

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
    Ok(Some(variable.call_method1("get", (&missing,))?).filter(|value| !value.is(&missing)))
}

impl<'py> Tracer<'py> {
    /// `partial(function, …)(…)`. CPython: `partial_call`.
    pub(super) fn call_partial(&mut self, partial: ValueId, args: Arguments) -> Traced<ValueId> {
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
            keywords.push((crate::ffi::types::text(&name), self.absorb(value)));
        }
        for (name, value) in args.keywords {
            match keywords.iter_mut().find(|(known, _)| *known == name) {
                Some(known) => known.1 = value,
                None => keywords.push((name, value)),
            }
        }
        self.call_deeper(function, Arguments { positional, keywords })
    }

    /// `get` and `set` of a context variable from outside; `None`: another method.
    pub(super) fn context_method(
        &mut self,
        method: &Bound<'py, PyAny>,
        name: &str,
        args: &Arguments,
    ) -> Traced<Option<ValueId>> {
        let owner = super::owner_of(method).map(|owner| crate::ffi::types::c_name(&owner));
        let named = owner.is_some_and(|owner| matches!(owner.as_str(), "_contextvars.ContextVar" | "ContextVar"));
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
                Ok(Some(self.push(Value::New(New::Opaque("token of a context variable")))))
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
        self.guard_once(variable, "context", Source::constant(object), check, "the trace read a context variable");
        match (now, default) {
            (Some(now), _) => Ok(self.absorb_static(now)),
            (None, Some(default)) => Ok(default),
            // What the variable was made with, or a `LookupError`.
            (None, None) => match object.call_method0("get") {
                Ok(value) => Ok(self.absorb_static(value)),
                Err(error) => self.raise_error(error),
            },
        }
    }
}
