//! From values to the objects that C works on, and from the objects that C made back to values.
use crate::ffi::types;
use crate::guard::Check;
use crate::guard::source::Source;
use crate::trace::state::guard_requests::GuardRequest;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::Traced;
use crate::trace::state::value::{Value, ValueId};
use crate::trace::value::kinds::{has_c_base, is_definition, is_of_one_object, is_scalar};
use crate::trace::value::nans::has_nan;
use types::is_c_type;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyComplex, PyFloat, PyFrozenSet, PyInt, PyString, PyTuple, PyType};
use std::sync::Arc;

/// Containers within containers from outside that a trace looks into: bounds the C stack that it needs.
pub(crate) const MAX_DEPTH: usize = 100;

pub(crate) fn object_kind(object: &Bound<'_, PyAny>) -> String {
    types::name(&object.get_type())
}

/// Whether there may be other objects of the same value: numbers and text that the interpreter has but once are none of them.
fn may_have_equals(object: &Bound<'_, PyAny>) -> bool {
    const KEPT: std::ops::RangeInclusive<i64> = -5..=256;
    if let Ok(number) = object.cast_exact::<PyInt>() {
        return !number.extract::<i64>().is_ok_and(|number| KEPT.contains(&number));
    }
    if object.is_exact_instance_of::<PyString>() || object.is_exact_instance_of::<PyBytes>() {
        return object.len().is_ok_and(|length| length > 1);
    }
    object.is_exact_instance_of::<PyFloat>()
        || object.is_exact_instance_of::<PyComplex>()
        || object.cast_exact::<PyTuple>().is_ok_and(|tuple| !tuple.is_empty())
}

impl<'py> Tracer<'py> {
    /// The object that C gets for a value: itself where it is known, or private and of a class that C has a hand in, else its proxy.
    pub(crate) fn native(&mut self, id: ValueId) -> Traced<Bound<'py, PyAny>> {
        self.refuse_unread(id)?;
        if let Some(object) = self.known(id) {
            if self.runs_python(&object) {
                return self.proxy(id);
            }
            self.pass_to_c(id, &object);
            if let Ok(class) = object.cast::<PyType>() {
                self.rely_on_class(class);
            }
            return Ok(object);
        }
        if let Some(object) = self.owned(id) {
            let itself =
                (is_c_type(&object.get_type()) || has_c_base(&object.get_type())) && !self.runs_python(&object);
            if itself {
                // What C reads of it no look-up of the trace tells.
                self.rely_on_class(&object.get_type());
                return Ok(object);
            }
            return self.proxy(id);
        }
        if let Some(object) = self.real(id)
            && !crate::trace::value::kinds::is_plain(&object.get_type())
        {
            if self.adopt_context(id)? {
                return self.native(id);
            }
            // C finds it in the contexts that it gets, and compares it by identity; guards tell it from others.
            if self.state.contexts.variables.contains(&id) {
                return Ok(object);
            }
            if let Some(object) = self.unchanging(id)? {
                return Ok(object);
            }
        }
        if self.is_globals(id) {
            return self.proxy(id);
        }
        if let Some(private_copy) = self.state.private_copies.of(id).filter(|copy| copy.is_given) {
            return Ok(private_copy.object.bind(self.py).clone());
        }
        if self.is_unusual(id) {
            return self.proxy(id);
        }
        if let Some(private_copy) = self.private_copy(id)? {
            return Ok(private_copy);
        }
        self.proxy(id)
    }

    /// C gets a number, text or a tuple of them from outside: what it gives back, or a container that it filled, is that very object or an
    /// item of it, which need not be the same one the next time.
    fn pass_to_c(&mut self, id: ValueId, object: &Bound<'py, PyAny>) {
        let Value::Real { source: Some(source), .. } = self.value(id) else { return };
        let source = source.clone();
        if !may_have_equals(object) || !self.state.guard_requests.insert(id, GuardRequest::LENT) {
            return;
        }
        let first = *self.state.passed_to_c.entry(object.as_ptr() as usize).or_insert(id);
        if let Some(other) = self.source(first).filter(|other| *other != source) {
            self.guard(source.clone(), Check::SameAs(other), "C got one object from two places");
        }
        let Ok(tuple) = object.cast_exact::<PyTuple>() else { return };
        let source = Arc::new(source);
        for (index, item) in tuple.iter().enumerate().filter(|(_, item)| may_have_equals(item)) {
            let item_id = self.sourced(item.clone(), Source::Item(Arc::clone(&source), index));
            self.pass_to_c(item_id, &item);
        }
    }

    pub(crate) fn runs_python(&self, object: &Bound<'py, PyAny>) -> bool {
        let class = object.get_type();
        if crate::trace::value::kinds::is_plain(&class) {
            return false;
        }
        match &*types::c_name(&class) {
            "function" | "method" | "property" | "staticmethod" | "classmethod" => true,
            _ => object.cast::<PyType>().is_ok_and(|class| !is_c_type(class)),
        }
    }

    /// The value that an object from C stands for.
    pub(crate) fn absorb(&mut self, object: Bound<'py, PyAny>) -> ValueId {
        if let Some(value) = self.value_of_proxy(&object) {
            return value;
        }
        if let Some(value) = self.dispatched_value(&object) {
            return value;
        }
        if let Some(id) = self.state.identity.get(&(object.as_ptr() as usize)) {
            return *id;
        }
        if self.is_being_made(&object) {
            return self.own(object);
        }
        if let Some(passed_to_c) = self.state.passed_to_c.get(&(object.as_ptr() as usize)) {
            return *passed_to_c;
        }
        self.note_addresses(&object);
        let plain = is_scalar(&object) && !has_nan(&object);
        if (plain || is_definition(&object) && !is_of_one_object(&object)) && !self.holds_passed_to_c(&object) {
            return self.constant(object);
        }
        self.own(object)
    }

    /// Whether a tuple or frozen set holds an object that C got from outside.
    fn holds_passed_to_c(&self, object: &Bound<'py, PyAny>) -> bool {
        if self.state.passed_to_c.is_empty() {
            return false;
        }
        let passed_to_c = |item: &Bound<'py, PyAny>| {
            self.state.passed_to_c.contains_key(&(item.as_ptr() as usize)) || self.holds_passed_to_c(item)
        };
        if let Ok(tuple) = object.cast_exact::<PyTuple>() {
            return tuple.iter().any(|item| passed_to_c(&item));
        }
        object.cast_exact::<PyFrozenSet>().is_ok_and(|set| set.iter().any(|item| passed_to_c(&item)))
    }
}

/// Whether it is a class of Python code, but no metaclass, whose instances C lays out.
pub(crate) fn derives_from_c(class: &Bound<'_, PyType>) -> bool {
    !is_c_type(class) && has_c_base(class) && !types::is_subtype(class, &class.py().get_type::<PyType>())
}
