//! Context variables: read under guards, set and reset within the trace, with tokens. What is left of that at the end are side effects.
//!
//! CPython: `Python/context.c`, `PyContextVar_Get`, `PyContextVar_Set`, `PyContextVar_Reset`.
use crate::ffi::{context_variable, contexts};
use crate::guard::source::Source;
use crate::guard::{Check, DomainCheck};
use crate::names::name;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::context_variables::{Base, Held, Token};
use crate::trace::state::outcome::Effect;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal, unsupported};
use crate::trace::state::value::{New, Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::any::Any;
use std::sync::Arc;

/// What [`New::Opaque`] calls a token.
pub(crate) const TOKEN: &str = "contextvars.Token";

const WHY: &str = "the trace read a context variable";

/// A variable has a value in the running context, or none.
#[derive(Debug, PartialEq)]
struct IsSet(bool);

impl DomainCheck for IsSet {
    fn holds(&self, variable: &Bound<'_, PyAny>) -> bool {
        context_variable::is_set(variable) == self.0
    }

    fn same(&self, other: &dyn DomainCheck, _py: Python<'_>) -> bool {
        (other as &dyn Any).downcast_ref::<Self>() == Some(self)
    }

    fn describe(&self) -> String {
        if self.0 { "is set" } else { "is not set" }.to_owned()
    }
}

impl DomainCheck for contexts::TokenState {
    fn holds(&self, token: &Bound<'_, PyAny>) -> bool {
        contexts::token_state(token) == Some(*self)
    }

    fn describe(&self) -> String {
        let used = if self.used { "used" } else { "not used" };
        format!("{used}, of {} context", if self.of_current { "this" } else { "another" })
    }
}

impl<'py> Tracer<'py> {
    /// A method of a context variable; `None`: another method, or arguments that C refuses.
    pub(crate) fn context_variable_method(
        &mut self,
        owner: &Bound<'py, PyType>,
        name: &str,
        args: &Arguments,
    ) -> Traced<Option<ValueId>> {
        let Some((variable, rest)) = args.positional.split_first() else { return Ok(None) };
        if !self.is_context_variable(*variable) || !self.class_of(*variable)?.is(owner) || !args.keywords.is_empty() {
            return Ok(None);
        }
        let given = match (name, rest) {
            ("get", [] | [_]) | ("set" | "reset", [_]) => rest.first().copied(),
            _ => return Ok(None),
        };
        self.meet_variable(*variable)?;
        match (name, given) {
            ("get", default) => self.get_variable(*variable, default).map(Some),
            ("set", Some(value)) => self.set_variable(*variable, value).map(Some),
            ("reset", Some(token)) => self.reset_variable(*variable, token).map(Some),
            _ => Ok(None),
        }
    }

    /// Whether the value is a context variable from outside.
    pub(crate) fn is_context_variable(&self, value: ValueId) -> bool {
        self.real(value).is_some_and(|object| contexts::is_variable(&object))
    }

    /// Whether the trace has set a variable, or is in another context than the thread is.
    pub(crate) fn has_set_variable(&self, variable: &Bound<'py, PyAny>) -> bool {
        let contexts = &self.state.contexts;
        let known = self.state.identity.get(&(variable.as_ptr() as usize));
        contexts.contexts[contexts.current()].base != Base::Current
            || known.is_some_and(|known| contexts.held(*known) != Held::Outside)
    }

    /// Guards tell a variable from the others that the trace knows.
    pub(crate) fn meet_variable(&mut self, variable: ValueId) -> Traced<()> {
        self.class_of(variable)?;
        if self.state.contexts.variables.contains(&variable) {
            return Ok(());
        }
        for other in self.state.contexts.variables.clone() {
            self.tell_apart(variable, other, "the trace used two context variables")?;
        }
        self.state.contexts.variables.push(variable);
        Ok(())
    }

    /// A guard that two objects from outside are not one.
    pub(crate) fn tell_apart(&mut self, one: ValueId, other: ValueId, why: &'static str) -> Traced<()> {
        let (Some(one), Some(other)) = (self.source(one), self.source(other)) else {
            return internal("an object from nowhere");
        };
        if !matches!((&one, &other), (Source::Constant(_), Source::Constant(_))) {
            self.guard(one, Check::NotSameAs(other), why);
        }
        Ok(())
    }

    /// CPython: `_contextvars_ContextVar_get_impl`.
    fn get_variable(&mut self, variable: ValueId, default: Option<ValueId>) -> Traced<ValueId> {
        let current = self.state.contexts.current();
        match (self.value_in_context(current, variable)?, default) {
            (Some(value), _) | (None, Some(value)) => Ok(value),
            (None, None) => self.default_of(variable),
        }
    }

    /// What the variable was made with, or a `LookupError`.
    fn default_of(&mut self, variable: ValueId) -> Traced<ValueId> {
        let (Some(object), Some(source)) = (self.real(variable), self.source(variable)) else {
            return internal("a context variable from nowhere");
        };
        let empty = self.import("contextvars", "Context")?.call0();
        let default = empty.and_then(|empty| empty.call_method1(name!("run"), (object.getattr(name!("get"))?,)));
        match default {
            Ok(default) if self.state.contexts.seen.get(&(Base::Current, variable)) == Some(&None) => {
                Ok(self.sourced(default, Source::ContextValue(Arc::new(source))))
            }
            _ if self.same_object(variable).is_none() => {
                unsupported("default of a context variable that is not always the same", "ContextVar.get")
            }
            Ok(default) => Ok(self.constant(default)),
            Err(error) => self.raise_error(error),
        }
    }

    /// CPython: `PyContextVar_Set`.
    fn set_variable(&mut self, variable: ValueId, value: ValueId) -> Traced<ValueId> {
        if !contexts::knows_tokens(self.py) || self.is_missing(value)? {
            return unsupported("context variable that is set", "ContextVar.set");
        }
        let context = self.state.contexts.current();
        let old = self.state.contexts.held(variable);
        if old == Held::Outside {
            let held = self.value_in_context(context, variable)?;
            self.before_overwriting(held)?;
        }
        self.state.contexts.contexts[context].change(variable, Held::Value(value));
        let token = self.push(Value::New(New::Opaque(TOKEN)));
        let made = Token { context: Some(context), variable, old, used: false, outside: false };
        self.state.contexts.tokens.insert(token, made);
        Ok(token)
    }

    /// CPython: `PyContextVar_Reset`.
    fn reset_variable(&mut self, variable: ValueId, token: ValueId) -> Traced<ValueId> {
        let Some(known) = self.meet_token(token)? else {
            return unsupported("reset of a context variable", "with something else than a token");
        };
        let context = self.state.contexts.current();
        if known.used || known.variable != variable || known.context != Some(context) {
            // What is raised tells the address of the token.
            return unsupported("reset of a context variable", "with a token that does not fit");
        }
        if let Some(token) = self.state.contexts.tokens.get_mut(&token) {
            token.used = true;
        }
        let changed = self.state.contexts.contexts[context].change(variable, known.old);
        if known.outside {
            changed.replayed = known.old;
            let callable = self.method_of_variables("reset")?;
            self.state.effects.push(Effect::Call { callable, args: vec![variable, token] });
        }
        Ok(self.none())
    }

    /// A method of `ContextVar`, unbound.
    fn method_of_variables(&mut self, name: &str) -> Traced<ValueId> {
        let method = self.import("contextvars", "ContextVar")?.getattr(name);
        let method = method.or_else(|error| internal(error.to_string()))?;
        Ok(self.constant(method))
    }

    /// What is known of a token; `None`: the value is none.
    pub(crate) fn meet_token(&mut self, token: ValueId) -> Traced<Option<Token>> {
        if let Some(known) = self.state.contexts.tokens.get(&token) {
            return Ok(Some(*known));
        }
        let (Some(object), Some(source)) = (self.real(token), self.source(token)) else { return Ok(None) };
        if !contexts::is_token(&object) {
            return Ok(None);
        }
        self.class_of(token)?;
        let Some(state) = contexts::token_state(&object) else { return Ok(None) };
        self.guard(source, Check::Domain(Box::new(state)), "the trace used a token of a context variable");
        let others: Vec<_> = self.state.contexts.tokens.iter().filter(|(_, known)| known.outside).collect();
        for other in others.into_iter().map(|(other, _)| *other).collect::<Vec<_>>() {
            self.tell_apart(token, other, "the trace used two tokens")?;
        }
        let variable = self.get_attr(token, "var")?;
        self.meet_variable(variable)?;
        let old = self.get_attr(token, "old_value")?;
        let old = if self.is_missing(old)? { Held::Nothing } else { Held::Value(old) };
        let known = Token { context: state.of_current.then_some(0), variable, old, used: state.used, outside: true };
        self.state.contexts.tokens.insert(token, known);
        Ok(Some(known))
    }

    /// Whether the value is `Token.MISSING`, guarded.
    fn is_missing(&mut self, value: ValueId) -> Traced<bool> {
        let missing = contexts::missing(self.py).cloned().or_else(|error| internal(error.to_string()))?;
        let missing = self.constant(missing);
        self.is(value, missing)
    }

    /// `token.var` and `token.old_value` of a token that the trace made; `None`: something else.
    pub(crate) fn token_attr(&mut self, token: ValueId, name: &str) -> Traced<Option<ValueId>> {
        let Some(known) = self.state.contexts.tokens.get(&token).filter(|known| !known.outside).copied() else {
            return Ok(None);
        };
        match name {
            "var" => Ok(Some(known.variable)),
            "old_value" => self.old_value(known).map(Some),
            _ => Ok(None),
        }
    }

    fn old_value(&mut self, token: Token) -> Traced<ValueId> {
        let Some(context) = token.context else { return internal("a token of an unknown context") };
        let old = self.value_of_held(context, token.variable, token.old)?;
        self.or_missing(old)
    }

    /// The value, or `Token.MISSING`.
    pub(crate) fn or_missing(&mut self, value: Option<ValueId>) -> Traced<ValueId> {
        match value {
            Some(value) => Ok(value),
            None => {
                let missing = contexts::missing(self.py).cloned().or_else(|error| internal(error.to_string()))?;
                Ok(self.constant(missing))
            }
        }
    }

    /// What a context has for a variable.
    pub(crate) fn value_in_context(&mut self, context: usize, variable: ValueId) -> Traced<Option<ValueId>> {
        let held = self.state.contexts.contexts[context].held(variable);
        self.value_of_held(context, variable, held)
    }

    /// The value that stands for what a context of the trace has, or had, for a variable.
    pub(crate) fn value_of_held(&mut self, context: usize, variable: ValueId, held: Held) -> Traced<Option<ValueId>> {
        match held {
            Held::Value(value) => Ok(Some(value)),
            Held::Nothing => Ok(None),
            Held::Outside => self.value_before(self.state.contexts.contexts[context].base, variable),
        }
    }

    /// What a context from outside had for a variable when the trace began, under a guard.
    fn value_before(&mut self, base: Base, variable: ValueId) -> Traced<Option<ValueId>> {
        if let Some(seen) = self.state.contexts.seen.get(&(base, variable)) {
            return Ok(*seen);
        }
        let value = match base {
            Base::Current => self.value_outside(variable)?,
            Base::Object(context) => self.value_in_object(context, variable)?,
            Base::Empty => None,
        };
        self.state.contexts.seen.insert((base, variable), value);
        match value {
            Some(value) if self.is_missing(value)? => unsupported("context variable", "set to Token.MISSING"),
            value => Ok(value),
        }
    }

    fn value_outside(&mut self, variable: ValueId) -> Traced<Option<ValueId>> {
        let (Some(object), Some(source)) = (self.real(variable), self.source(variable)) else {
            return internal("a context variable from nowhere");
        };
        let is_set = context_variable::is_set(&object);
        self.guard(source.clone(), Check::Domain(Box::new(IsSet(is_set))), WHY);
        let value = context_variable::value(&object).filter(|_| is_set);
        Ok(value.map(|value| self.sourced(value, Source::ContextValue(Arc::new(source)))))
    }

    /// How emitted code makes a token again; `None` for other values.
    pub(crate) fn describe_token(
        &mut self,
        id: ValueId,
    ) -> Traced<Option<crate::trace::state::materialised::Materialised<Vec<ValueId>>>> {
        let Some(token) = self.state.contexts.tokens.get(&id).copied() else { return Ok(None) };
        let Some(context) = token.context else { return internal("a token of an unknown context") };
        let (old, used) = (self.old_value(token)?, self.boolean(token.used));
        let mut args = vec![token.variable, old, used];
        let make = match context {
            0 => pyo3::wrap_pyfunction!(contexts::make_token, self.py),
            _ => {
                args.insert(0, self.object_of_context(context)?);
                pyo3::wrap_pyfunction!(contexts::make_token_in, self.py)
            }
        };
        let make = make.or_else(|error| internal(error.to_string()))?;
        let callable = self.constant(make.into_any());
        let children = args.iter().copied().chain([callable]).collect();
        Ok(Some(self.set(id, New::Call { callable, args, state: None }, children)))
    }

    /// What the trace has made of contexts from outside becomes side effects.
    pub(crate) fn replay_contexts(&mut self) -> Traced<()> {
        for index in 0..self.state.contexts.contexts.len() {
            let context = self.state.contexts.contexts[index].clone();
            for change in context.changes.iter().filter(|change| change.now != change.replayed) {
                let variable = change.variable;
                let now = self.value_of_held(index, variable, change.now)?;
                let (callable, args) = match (context.base, now) {
                    (Base::Current, Some(value)) if index == 0 => {
                        (self.method_of_variables("set")?, vec![variable, value])
                    }
                    (Base::Current, None) if index == 0 => {
                        (self.function_of_contexts("set_variable")?, vec![variable, self.or_missing(None)?])
                    }
                    (Base::Object(object), value) if self.state.contexts.objects.get(&object) == Some(&index) => {
                        let value = self.or_missing(value)?;
                        (self.function_of_contexts("set_in_context")?, vec![object, variable, value])
                    }
                    _ => continue,
                };
                self.state.effects.push(Effect::Call { callable, args });
            }
        }
        Ok(())
    }

    fn function_of_contexts(&mut self, name: &str) -> Traced<ValueId> {
        let made = match name {
            "set_variable" => pyo3::wrap_pyfunction!(contexts::set_variable, self.py),
            _ => pyo3::wrap_pyfunction!(contexts::set_in_context, self.py),
        };
        let made = made.or_else(|error| internal(error.to_string()))?;
        Ok(self.constant(made.into_any()))
    }
}
