//! What tests look at in a value, as numbers: tests of one aspect that ask for different numbers exclude each other.
use super::test::Test;
use super::values;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyFloat, PyInt, PyString};
use rustc_hash::FxHasher;
use std::any::{Any, TypeId};
use std::hash::{Hash, Hasher};

/// Something of a value that is a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aspect {
    Type,
    Identity,
    Constant,
    Length,
    Truth,
    /// What conditions of a domain look at, by their Rust type and what they say themselves.
    Domain(TypeId, u64),
}

impl Test {
    /// What it looks at, and the number that it asks for; `None` where numbers do not tell.
    pub fn wanted(&self, py: Python<'_>) -> Option<(Aspect, u64)> {
        let identity = |address: usize| Some((Aspect::Identity, address as u64));
        match self {
            Self::TypeIs(class) => Some((Aspect::Type, class.address(py)? as u64)),
            Self::Is(object) => identity(object.address(py)?),
            Self::Function(state) => identity(state.function(py)?.as_ptr() as usize),
            Self::Anchor(address) => identity(*address),
            Self::Equals(constant) => Some((Aspect::Constant, number_of_constant(constant.bind(py))?)),
            Self::Length(length) => Some((Aspect::Length, *length as u64)),
            Self::Truth(truth) => Some((Aspect::Truth, u64::from(*truth))),
            Self::Domain(check) => {
                let (kind, number) = check.wanted()?;
                let check: &dyn Any = &**check;
                Some((Aspect::Domain(check.type_id(), kind), number))
            }
            Self::Unchanged(..) | Self::FunctionLike(_) | Self::Keys(_) | Self::Absent(_) => None,
            Self::NothingHandled | Self::Empty | Self::Call(_) | Self::Module => None,
        }
    }

    /// The number of a value in the aspect of this test; `None`: no test of the aspect holds.
    #[inline]
    pub fn number(&self, value: &Bound<'_, PyAny>) -> Option<u64> {
        match self {
            Self::TypeIs(_) => Some(value.get_type_ptr() as u64),
            Self::Is(_) | Self::Function(..) | Self::Anchor(_) => Some(value.as_ptr() as u64),
            Self::Equals(_) => number_of_constant(value),
            Self::Length(_) => values::length(value).map(|length| length as u64),
            Self::Truth(_) => values::truth(value).map(u64::from),
            Self::Domain(check) => check.number(value),
            Self::Unchanged(..) | Self::FunctionLike(_) | Self::Keys(_) | Self::Absent(_) => None,
            Self::NothingHandled | Self::Empty | Self::Call(_) | Self::Module => None,
        }
    }
}

/// A number that is the same for constants that [`values::equal`] calls equal; `None` for those that are not told apart in this way.
/// No code of the program runs: the types are exact.
fn number_of_constant(value: &Bound<'_, PyAny>) -> Option<u64> {
    let content = if let Ok(float) = value.cast_exact::<PyFloat>() {
        float.value().to_bits()
    } else if value.is_exact_instance_of::<PyInt>()
        || value.is_exact_instance_of::<PyString>()
        || value.is_exact_instance_of::<PyBytes>()
    {
        value.hash().ok()?.cast_unsigned() as u64
    } else if value.is_none() || value.is_exact_instance_of::<pyo3::types::PyBool>() {
        value.as_ptr() as u64
    } else {
        return None;
    };
    let mut hasher = FxHasher::default();
    (value.get_type_ptr() as usize, content).hash(&mut hasher);
    Some(hasher.finish())
}
