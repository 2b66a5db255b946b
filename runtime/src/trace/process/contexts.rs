//! Objects of `contextvars.Context`: copies of contexts as the trace has them, `run`, and contexts as mappings.
//!
//! CPython: `Python/context.c`, `context_run`, `context_tp_subscript`.
use super::context_variables::TOKEN;
use crate::ffi::contexts;
use crate::guard::source::{Fixed, Source};
use crate::guard::{Check, DomainCheck};
use crate::names::name;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::context_variables::{Base, Held, TracedContext};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal, unsupported};
use crate::trace::state::value::{New, Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::sync::Arc;

/// What [`New::Opaque`] calls a context.
const CONTEXT: &str = "contextvars.Context";

/// Nobody has entered the context.
#[derive(Debug)]
struct NotEntered;

impl DomainCheck for NotEntered {
    fn holds(&self, context: &Bound<'_, PyAny>) -> bool {
        contexts::is_context(context) && !contexts::is_entered(context)
    }

    fn describe(&self) -> String {
        "is not entered".to_owned()
    }
}

/// A context has a value for a variable, or none.
#[derive(Debug)]
struct Has {
    variable: Py<PyAny>,
    has: bool,
}

impl DomainCheck for Has {
    fn holds(&self, context: &Bound<'_, PyAny>) -> bool {
        contexts::is_context(context) && context.contains(&self.variable).is_ok_and(|has| has == self.has)
    }

    fn describe(&self) -> String {
        format!("{} {}", if self.has { "has" } else { "lacks" }, self.variable)
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        visit(&self.variable);
    }
}

/// A context, or the running one, has values for exactly these variables.
#[derive(Debug)]
struct HasExactly {
    variables: Vec<Py<PyAny>>,
}

impl DomainCheck for HasExactly {
    fn holds(&self, context: &Bound<'_, PyAny>) -> bool {
        let Ok(context) = real_context(context) else { return false };
        context.len().is_ok_and(|length| length == self.variables.len())
            && self.variables.iter().all(|variable| context.contains(variable).unwrap_or(false))
    }

    fn describe(&self) -> String {
        format!("has {} variables, as it had", self.variables.len())
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        self.variables.iter().for_each(visit);
    }
}

/// The context itself; for anything else a copy of the running one.
fn real_context<'py>(context: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    match contexts::is_context(context) {
        true => Ok(context.clone()),
        false => {
            let changes = pyo3::types::PyTuple::empty(context.py());
            contexts::make_context(pyo3::types::PyBool::new(context.py(), true).as_any(), &changes)
        }
    }
}

impl<'py> Tracer<'py> {
    /// `contextvars.copy_context()`.
    pub(crate) fn copy_context(&mut self) -> ValueId {
        let current = self.state.contexts.current();
        self.copy_of_context(current)
    }

    /// `contextvars.Context()`.
    pub(crate) fn empty_context(&mut self) -> ValueId {
        self.add_context(TracedContext::new(Base::Empty))
    }

    fn copy_of_context(&mut self, context: usize) -> ValueId {
        let mut copy = self.state.contexts.contexts[context].clone();
        copy.entered = false;
        self.add_context(copy)
    }

    fn add_context(&mut self, context: TracedContext) -> ValueId {
        let value = self.push(Value::New(New::Opaque(CONTEXT)));
        self.state.contexts.contexts.push(context);
        let index = self.state.contexts.contexts.len() - 1;
        self.state.contexts.objects.insert(value, index);
        value
    }

    /// The class of tokens and contexts that the trace made; `None`: another name.
    pub(crate) fn class_in_contextvars(&self, name: &str) -> Option<Traced<Bound<'py, PyType>>> {
        let class = [TOKEN, CONTEXT].into_iter().find(|known| *known == name)?.rsplit_once('.')?.1;
        let found = self.import("contextvars", class);
        Some(found.and_then(|class| class.cast_into().or_else(|error| internal(error.to_string()))))
    }

    /// Whether the value is a context.
    fn is_context(&self, value: ValueId) -> bool {
        self.state.contexts.objects.contains_key(&value)
            || self.real(value).is_some_and(|object| contexts::is_context(&object))
    }

    /// Index of the context that a value is, which nobody outside the trace has entered; `None`: it is no context.
    fn context_of(&mut self, value: ValueId) -> Traced<Option<usize>> {
        if let Some(index) = self.state.contexts.objects.get(&value) {
            return Ok(Some(*index));
        }
        let Some(object) = self.real(value).filter(contexts::is_context) else { return Ok(None) };
        self.class_of(value)?;
        let Some(source) = self.source(value) else { return internal("a context from nowhere") };
        if contexts::is_entered(&object) {
            return unsupported("context that is entered", "contextvars.Context");
        }
        self.guard(source, Check::Domain(Box::new(NotEntered)), "the trace used a context");
        let others = self.state.contexts.objects.keys().copied();
        for other in others.filter(|other| self.real(*other).is_some()).collect::<Vec<_>>() {
            self.tell_apart(value, other, "the trace used two contexts")?;
        }
        self.state.contexts.contexts.push(TracedContext::new(Base::Object(value)));
        let index = self.state.contexts.contexts.len() - 1;
        self.state.contexts.objects.insert(value, index);
        Ok(Some(index))
    }

    /// A method of a context; `None`: another method, or arguments that C refuses.
    pub(crate) fn context_method(&mut self, name: &str, args: &Arguments) -> Traced<Option<ValueId>> {
        let Some((value, rest)) = args.positional.split_first() else { return Ok(None) };
        if !self.is_context(*value) {
            return Ok(None);
        }
        match (name, rest, args.keywords.is_empty()) {
            ("run", [callable, rest @ ..], _) => {
                let given =
                    Arguments { positional: rest.to_vec(), keywords: args.keywords.clone(), ..Arguments::default() };
                self.run_in_context(*value, *callable, given).map(Some)
            }
            ("copy", [], true) => match self.context_of(*value)? {
                Some(context) => Ok(Some(self.copy_of_context(context))),
                None => Ok(None),
            },
            ("get", [key] | [key, _], true) if self.is_context_variable(*key) => {
                let Some(context) = self.context_of(*value)? else { return Ok(None) };
                self.meet_variable(*key)?;
                let found = self.value_in_context(context, *key)?;
                let default = rest.get(1).copied().unwrap_or_else(|| self.none());
                Ok(Some(found.unwrap_or(default)))
            }
            ("keys" | "values" | "items", [], true) => {
                let context = self.whole_context(*value)?;
                let made = self.with_callbacks(|| context.call_method0(name));
                self.after_native(made, &[]).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// CPython: `context_run`.
    fn run_in_context(&mut self, value: ValueId, callable: ValueId, args: Arguments) -> Traced<ValueId> {
        let Some(context) = self.context_of(value)? else { return internal("a context expected") };
        if self.state.contexts.contexts[context].entered {
            return unsupported("context that is entered", "contextvars.Context.run");
        }
        self.state.contexts.contexts[context].entered = true;
        self.state.contexts.entered.push(context);
        let result = self.call_deeper(callable, args);
        self.state.contexts.entered.pop();
        self.state.contexts.contexts[context].entered = false;
        result
    }

    /// `context[variable]` and `variable in context`; `None`: something else, or a key that C refuses.
    pub(crate) fn context_operator(&mut self, name: &str, operands: &[ValueId]) -> Traced<Option<ValueId>> {
        let [value, key] = operands else { return Ok(None) };
        if !matches!(name, "getitem" | "contains") || !self.is_context(*value) || !self.is_context_variable(*key) {
            return Ok(None);
        }
        let Some(context) = self.context_of(*value)? else { return Ok(None) };
        self.meet_variable(*key)?;
        match (self.value_in_context(context, *key)?, name) {
            (found, "contains") => Ok(Some(self.boolean(found.is_some()))),
            (Some(value), _) => Ok(Some(value)),
            (None, _) => {
                let key = self.real(*key).map(Bound::unbind);
                self.raise_error(pyo3::exceptions::PyKeyError::new_err((key,)))
            }
        }
    }

    /// What C gets for a context: one that has for each variable what the trace has. `None`: the value is no context.
    pub(crate) fn context_for_c(&mut self, value: ValueId) -> Traced<Option<Bound<'py, PyAny>>> {
        if !self.is_context(value) {
            return Ok(None);
        }
        self.whole_context(value).map(Some)
    }

    fn whole_context(&mut self, value: ValueId) -> Traced<Bound<'py, PyAny>> {
        let Some(index) = self.context_of(value)? else { return internal("a context expected") };
        let made = self.import("contextvars", "Context")?.call0().or_else(|error| internal(error.to_string()))?;
        for variable in self.variables_in(index)? {
            let Some(value) = self.value_in_context(index, variable)? else { continue };
            let (Some(variable), native) = (self.real(variable), self.native(value)?) else {
                return internal("a context variable from nowhere");
            };
            contexts::in_context(&made, || variable.call_method1(name!("set"), (native,)).map(drop))
                .or_else(|error| internal(error.to_string()))?;
        }
        Ok(made)
    }

    /// All variables that a context has, and some that it no longer has; guarded.
    fn variables_in(&mut self, index: usize) -> Traced<Vec<ValueId>> {
        let base = self.state.contexts.contexts[index].base;
        let outside = match base {
            Base::Empty => None,
            Base::Current => Some(self.py.None().into_bound(self.py)),
            Base::Object(value) => self.real(value),
        };
        let mut variables = Vec::new();
        if let Some(outside) = outside {
            let found = real_context(&outside).and_then(|context| context.try_iter()?.collect::<PyResult<Vec<_>>>());
            let found = found.or_else(|error| internal(error.to_string()))?;
            let check = HasExactly { variables: found.iter().map(|variable| variable.clone().unbind()).collect() };
            let source = match base {
                Base::Object(value) => self.source(value),
                _ => Some(Source::constant(&outside)),
            };
            let Some(source) = source else { return internal("a context from nowhere") };
            self.guard(source, Check::Domain(Box::new(check)), "the trace read a context as a whole");
            for variable in found {
                let variable = self.constant(variable);
                self.meet_variable(variable)?;
                variables.push(variable);
            }
        }
        let changes: Vec<_> =
            self.state.contexts.contexts[index].changes.iter().map(|change| change.variable).collect();
        variables.extend(changes.into_iter().filter(|change| !variables.contains(change)).collect::<Vec<_>>());
        Ok(variables)
    }

    /// What a context object from outside had for a variable when the trace began, under a guard.
    pub(crate) fn value_in_object(&mut self, context: ValueId, variable: ValueId) -> Traced<Option<ValueId>> {
        let (Some(object), Some(source)) = (self.real(context), self.source(context)) else {
            return internal("a context from nowhere");
        };
        let Some(key) = self.same_object(variable) else {
            return unsupported("context from outside", "asked for a variable that is not always the same");
        };
        let value = object.call_method1(name!("get"), (&key, &object)).or_else(|error| internal(error.to_string()))?;
        let has = object.contains(&key).unwrap_or(false);
        let check = Has { variable: key.clone().unbind(), has };
        self.guard(source.clone(), Check::Domain(Box::new(check)), "the trace read a context");
        Ok(has.then(|| self.sourced(value, Source::DictItem(Arc::new(source), Fixed::new(&key)))))
    }

    /// The object of a context of the trace.
    pub(crate) fn object_of_context(&mut self, context: usize) -> Traced<ValueId> {
        let found = self.state.contexts.objects.iter().find(|(_, index)| **index == context);
        found.map_or_else(|| internal("a context without an object"), |(value, _)| Ok(*value))
    }

    /// How emitted code makes a context again; `None` for other values.
    pub(crate) fn describe_context(
        &mut self,
        id: ValueId,
    ) -> Traced<Option<crate::trace::state::materialised::Materialised<Vec<ValueId>>>> {
        let Some(index) = self.state.contexts.objects.get(&id).copied() else { return Ok(None) };
        let context = self.state.contexts.contexts[index].clone();
        let base = match context.base {
            Base::Current => self.boolean(true),
            Base::Object(value) => value,
            Base::Empty => self.none(),
        };
        let mut args = vec![base];
        for change in context.changes.iter().filter(|change| change.now != Held::Outside) {
            let value = self.value_of_held(index, change.variable, change.now)?;
            args.extend([change.variable, self.or_missing(value)?]);
        }
        let make = pyo3::wrap_pyfunction!(contexts::make_context, self.py);
        let make = make.or_else(|error| internal(error.to_string()))?;
        let callable = self.constant(make.into_any());
        let children = args.iter().copied().chain([callable]).collect();
        Ok(Some(self.set(id, New::Call { callable, args, state: None }, children)))
    }
}
