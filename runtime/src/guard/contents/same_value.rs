//! The condition that a value of C is made of the same parts: a date, a decimal number.
use crate::ffi::types;
use crate::guard::condition::DomainCheck;
use crate::guard::values;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple, PyType};

/// What its state is written as.
pub(in crate::guard) const SAME_VALUE: &str = "same value";

/// Values within values that are compared.
const DEPTH: usize = 4;

/// Of an immutable object of a class of C whose `__reduce_ex__` says all of it: another one says the same.
#[derive(Debug)]
pub struct SameValue {
    class: Py<PyType>,
    object: Py<PyAny>,
}

impl SameValue {
    /// `None`: what the object says of itself cannot be compared, so that its identity alone tells.
    #[must_use]
    pub fn of(object: &Bound<'_, PyAny>) -> Option<Self> {
        let parts = (reduced(object)?, reduced(object)?);
        let is_told = are_same(&parts.0, &parts.1, DEPTH);
        is_told.then(|| Self { class: object.get_type().unbind(), object: object.clone().unbind() })
    }
}

impl DomainCheck for SameValue {
    fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        is_same(value, self.object.bind(value.py()), DEPTH)
    }

    fn class(&self) -> Option<&Py<PyType>> {
        Some(&self.class)
    }

    fn same(&self, other: &dyn DomainCheck, py: Python<'_>) -> bool {
        let other = (other as &dyn std::any::Any).downcast_ref::<Self>();
        other.is_some_and(|other| is_same(self.object.bind(py), other.object.bind(py), DEPTH))
    }

    fn state<'py>(&self, py: Python<'py>) -> Option<(&'static str, Bound<'py, PyAny>)> {
        Some((SAME_VALUE, self.object.bind(py).clone()))
    }

    fn describe(&self) -> String {
        Python::attach(|py| format!("has the value {}", types::text(self.object.bind(py))))
    }
}

fn is_same(value: &Bound<'_, PyAny>, other: &Bound<'_, PyAny>, depth: usize) -> bool {
    if values::equal(value, other) {
        return true;
    }
    if depth == 0 || value.get_type_ptr() != other.get_type_ptr() {
        return false;
    }
    match (value.cast_exact::<PyTuple>(), other.cast_exact::<PyTuple>()) {
        (Ok(value), Ok(other)) => are_same(value, other, depth),
        _ => match (reduced(value), reduced(other)) {
            (Some(value), Some(other)) => are_same(&value, &other, depth - 1),
            _ => false,
        },
    }
}

fn are_same(parts: &Bound<'_, PyTuple>, others: &Bound<'_, PyTuple>, depth: usize) -> bool {
    parts.len() == others.len() && parts.iter().zip(others.iter()).all(|(part, other)| is_same(&part, &other, depth))
}

/// What an object of a class of C that never changes says it is made of.
fn reduced<'py>(object: &Bound<'py, PyAny>) -> Option<Bound<'py, PyTuple>> {
    /// The protocol of pickles from which on times say their `fold`.
    const PROTOCOL: u8 = 4;
    let (py, class) = (object.py(), object.get_type());
    let plain = py.get_type::<PyAny>();
    let own = |name: &Bound<'py, PyString>| {
        let (found, inherited) = (types::lookup(&class, name)?, types::lookup(&plain, name)?);
        (!found.is(&inherited)).then_some(found)
    };
    if !types::is_c_type(&class) || !types::is_immutable(&class) {
        return None;
    }
    let said = match own(intern!(py, "__reduce_ex__")) {
        Some(method) => method.call1((object, PROTOCOL)),
        None => own(intern!(py, "__reduce__"))?.call1((object,)),
    };
    said.ok()?.cast_into_exact().ok()
}
