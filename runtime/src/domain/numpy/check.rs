//! Guards on arrays and scalars, and on numpy's error state.
use super::errors::Errors;
use crate::ffi::ndarray;
use crate::guard::DomainCheck;
use crate::names::name;
use pyo3::prelude::*;
use pyo3::types::PyType;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// What the states of the conditions are written as.
pub(super) const ARRAY: &str = "numpy array";
pub(super) const SCALAR: &str = "numpy scalar";
pub(super) const DTYPE: &str = "numpy dtype";
pub(super) const HARMLESS: &str = "numpy errors";

/// Contiguity and writeability: C, Fortran, aligned, writeable.
const FLAGS: i32 = 0x1 | 0x2 | 0x100 | 0x400;

/// Exact class, dtype, shape, contiguity, writeability.
#[derive(Debug)]
pub(super) struct ArrayCheck {
    class: Py<PyType>,
    dtype: Py<PyAny>,
    shape: Vec<isize>,
    flags: i32,
}

impl ArrayCheck {
    /// For arrays like `example`, which must be an exact `ndarray`.
    pub(super) fn new(example: &Bound<'_, PyAny>) -> Self {
        let read = ndarray::metadata(example);
        let (shape, flags) = (read.shape.to_vec(), read.flags & FLAGS);
        let dtype = example.getattr(name!("dtype")).map_or_else(|_| example.py().None(), Bound::unbind);
        Self { class: example.get_type().unbind(), dtype, shape, flags }
    }

    /// From its state: class, dtype, shape, flags.
    pub(super) fn of_state(state: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (class, dtype, shape, flags) = state.extract::<(Bound<'_, PyType>, Bound<'_, PyAny>, Vec<isize>, i32)>()?;
        Ok(Self { class: class.unbind(), dtype: dtype.unbind(), shape, flags })
    }

    fn text(&self, py: Python<'_>) -> String {
        let (shape, dtype) = (&self.shape, self.dtype.bind(py));
        let order = match self.flags & 3 {
            3 => "C and F",
            1 => "C",
            2 => "F",
            _ => "not",
        };
        let writeable = if self.flags & 0x400 == 0 { ", read-only" } else { "" };
        format!("dtype == {dtype}, shape == {shape:?}, {order} contiguous{writeable}")
    }
}

/// Of arrays of one shape, with the same flags. Types that are equal need not be one object.
fn number(shape: &[isize], flags: i32) -> u64 {
    let mut hasher = FxHasher::default();
    (shape, flags).hash(&mut hasher);
    hasher.finish()
}

impl DomainCheck for ArrayCheck {
    fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        if value.get_type_ptr().cast() != self.class.as_ptr() {
            return false;
        }
        let read = ndarray::metadata(value);
        if read.shape != self.shape.as_slice() || read.flags & FLAGS != self.flags {
            return false;
        }
        let dtype = self.dtype.bind(value.py());
        read.descr == dtype.as_ptr() as usize
            || value.getattr(name!("dtype")).is_ok_and(|other| other.eq(dtype).unwrap_or(false))
    }

    fn class(&self) -> Option<&Py<PyType>> {
        Some(&self.class)
    }

    fn same(&self, other: &dyn DomainCheck, _py: Python<'_>) -> bool {
        let other: &dyn std::any::Any = other;
        other.downcast_ref::<Self>().is_some_and(|other| {
            self.class.is(&other.class)
                && self.dtype.is(&other.dtype)
                && self.shape == other.shape
                && self.flags == other.flags
        })
    }

    fn wanted(&self) -> Option<(u64, u64)> {
        Some((self.class.as_ptr() as u64, number(&self.shape, self.flags)))
    }

    fn number(&self, value: &Bound<'_, PyAny>) -> Option<u64> {
        let read = value.get_type().is(&self.class).then(|| ndarray::metadata(value))?;
        Some(number(read.shape, read.flags & FLAGS))
    }

    fn state<'py>(&self, py: Python<'py>) -> Option<(&'static str, Bound<'py, PyAny>)> {
        let shape = pyo3::types::PyTuple::new(py, &self.shape).ok()?;
        let state = (self.class.bind(py), self.dtype.bind(py), shape, self.flags).into_pyobject(py).ok()?;
        Some((ARRAY, state.into_any()))
    }

    fn now(&self, value: &Bound<'_, PyAny>) -> Option<String> {
        value.get_type().is(&self.class).then(|| Self::new(value).text(value.py()))
    }

    fn describe(&self) -> String {
        Python::attach(|py| self.text(py))
    }
}

/// Exact class of a scalar; its dtype follows.
#[derive(Debug)]
pub(super) struct ScalarCheck {
    class: Py<PyType>,
    text: String,
}

impl ScalarCheck {
    /// For scalars of this class.
    pub(super) fn new(class: &Bound<'_, PyType>) -> Self {
        Self { class: class.clone().unbind(), text: format!("type is {}", crate::ffi::types::name(class)) }
    }
}

impl DomainCheck for ScalarCheck {
    fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        value.get_type().is(&self.class)
    }

    fn same(&self, other: &dyn DomainCheck, _py: Python<'_>) -> bool {
        let other: &dyn std::any::Any = other;
        other.downcast_ref::<Self>().is_some_and(|other| self.class.is(&other.class))
    }

    fn state<'py>(&self, py: Python<'py>) -> Option<(&'static str, Bound<'py, PyAny>)> {
        Some((SCALAR, self.class.bind(py).clone().into_any()))
    }

    fn describe(&self) -> String {
        self.text.clone()
    }
}

/// Floating point errors are only warned about, printed or ignored; no value is looked at.
#[derive(Debug)]
pub(super) struct HarmlessErrors(pub Arc<Errors>);

impl DomainCheck for HarmlessErrors {
    fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        self.0.harmless(value.py())
    }

    fn same(&self, other: &dyn DomainCheck, _py: Python<'_>) -> bool {
        let other: &dyn std::any::Any = other;
        other.downcast_ref::<Self>().is_some_and(|other| Arc::ptr_eq(&self.0, &other.0))
    }

    fn state<'py>(&self, py: Python<'py>) -> Option<(&'static str, Bound<'py, PyAny>)> {
        Some((HARMLESS, py.None().into_bound(py)))
    }

    fn describe(&self) -> String {
        "floating point errors raise nothing".to_owned()
    }
}
