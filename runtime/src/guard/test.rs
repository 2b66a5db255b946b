//! Tests of guard programs. None runs code of the program, except where a guard is a call.
use super::class_state::ClassState;
use super::condition::DomainCheck;
use super::function_shape::FunctionShape;
use super::function_state::FunctionState;
use super::values;
use crate::ffi::held::Held;
use crate::ffi::inspect;
use pyo3::prelude::*;
use pyo3::types::{PyModule, PyType};
use std::sync::Arc;

/// A test of the value in one register.
#[derive(Debug)]
pub(super) enum Test {
    TypeIs(Held),
    Is(Arc<Held>),
    Equals(Py<PyAny>),
    Length(usize),
    Truth(bool),
    NothingHandled,
    Absent(Held),
    /// The class in the register, and what it was like.
    Unchanged(Held, ClassState),
    /// A function and the code, defaults and keyword defaults that it had.
    Function(FunctionState),
    /// A function made of the same code.
    FunctionLike(FunctionShape),
    Keys(Py<PyAny>),
    Empty,
    Domain(Box<dyn DomainCheck>),
    Call(Py<PyAny>),
    /// A module, and none of a class derived from that of modules.
    Module,
    /// Only in residual programs: the object that the program was made with. If it is another, the program says nothing.
    Anchor(usize),
}

impl Test {
    /// Shows the objects that it names to the garbage collector.
    pub fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        match self {
            Self::Equals(object) | Self::Keys(object) | Self::Call(object) => visit(object),
            Self::TypeIs(object) | Self::Absent(object) => object.traverse(visit),
            Self::Is(object) => object.traverse(visit),
            Self::Unchanged(class, state) => {
                class.traverse(visit);
                state.traverse(visit);
            }
            Self::Function(state) => state.traverse(visit),
            Self::FunctionLike(shape) => shape.traverse(visit),
            Self::Domain(check) => check.traverse(visit),
            Self::Length(_) | Self::Truth(_) | Self::NothingHandled | Self::Empty => {}
            Self::Module | Self::Anchor(_) => {}
        }
    }

    /// Whether the value passes.
    #[inline]
    pub fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        let py = value.py();
        match self {
            Self::TypeIs(class) => class.is_class_of(value),
            Self::Is(object) => object.is(value),
            Self::Equals(constant) => values::equal(value, constant.bind(py)),
            Self::Truth(truth) => values::truth(value) == Some(*truth),
            Self::Length(length) => values::length(value) == Some(*length),
            Self::Absent(key) => key.with(py, |key| values::absent(value, key).then_some(())).is_some(),
            Self::Unchanged(class, state) => {
                class.is(value) && value.cast::<PyType>().is_ok_and(|class| state.holds(class))
            }
            Self::Function(state) => state.is(value) && state.holds(value),
            Self::FunctionLike(shape) => shape.is_of(value),
            Self::Keys(keys) => values::has_keys(value, keys.bind(py)),
            Self::Empty => inspect::cell_content(value).is_none(),
            Self::Domain(check) => check.holds(value),
            Self::NothingHandled => !inspect::is_handling(py),
            Self::Call(check) => check.bind(py).call1((value,)).and_then(|answer| answer.is_truthy()).unwrap_or(false),
            Self::Module => value.is_exact_instance_of::<PyModule>(),
            Self::Anchor(address) => value.as_ptr() as usize == *address,
        }
    }

    /// Whether it asks for one class or function.
    pub fn asks_for_one(&self) -> bool {
        matches!(self, Self::Unchanged(..) | Self::Function(_))
    }

    /// Whether it can never hold again: the object that it asks for is gone.
    pub fn is_over(&self, py: Python<'_>) -> bool {
        match self {
            Self::TypeIs(object) | Self::Absent(object) | Self::Unchanged(object, _) => object.is_gone(py),
            Self::Is(object) => object.is_gone(py),
            Self::Function(state) => state.function(py).is_none(),
            _ => false,
        }
    }

    /// What the value differs in, where the test asks for another number of its class or for another tuple: the keys of the number, or of the
    /// tuple and what differs in it. `key`: of the value.
    pub fn other_numbers(&self, value: &Bound<'_, PyAny>, key: u64) -> Vec<u64> {
        let mut found = Vec::new();
        if let Self::Equals(constant) = self {
            values::other_numbers(value, constant.bind(value.py()), key, &mut found);
        }
        found
    }

    /// The dimensions in which an array has another size than the test asks for, where nothing else differs.
    pub fn other_sizes(&self, value: &Bound<'_, PyAny>) -> Vec<usize> {
        match self {
            Self::Domain(check) => check.other_sizes(value),
            _ => Vec::new(),
        }
    }

    /// Whether the value is a container of another length than the test asks for.
    pub fn other_length(&self, value: &Bound<'_, PyAny>) -> bool {
        matches!(self, Self::Length(length) if values::length(value).is_some_and(|now| now != *length))
    }

    /// Whether the value is another object than the one that the test asks for.
    pub fn other_object(&self, value: &Bound<'_, PyAny>) -> bool {
        matches!(self, Self::Is(object) if !object.is(value))
    }

    /// How many keys a dict has, where the test asks for as many others, and all are integers.
    pub fn other_keys(&self, value: &Bound<'_, PyAny>) -> Option<usize> {
        let Self::Keys(keys) = self else { return None };
        values::other_integers_as_keys(value, keys.bind(value.py()))
    }

    /// Whether both test the same.
    pub fn same(&self, other: &Self, py: Python<'_>) -> bool {
        match (self, other) {
            (Self::Keys(one), Self::Keys(other)) | (Self::Call(one), Self::Call(other)) => one.is(other),
            (Self::TypeIs(one), Self::TypeIs(other)) | (Self::Absent(one), Self::Absent(other)) => one.same(other),
            (Self::Is(one), Self::Is(other)) => one.same(other),
            (Self::Equals(one), Self::Equals(other)) => values::equal(one.bind(py), other.bind(py)),
            (Self::Length(one), Self::Length(other)) => one == other,
            (Self::Truth(one), Self::Truth(other)) => one == other,
            (Self::Unchanged(one, now), Self::Unchanged(other, then)) => one.same(other) && now.same(then),
            (Self::Domain(one), Self::Domain(other)) => one.same(&**other, py),
            (Self::Anchor(one), Self::Anchor(other)) => one == other,
            (Self::NothingHandled, Self::NothingHandled)
            | (Self::Empty, Self::Empty)
            | (Self::Module, Self::Module) => true,
            _ => false,
        }
    }
}
