//! The condition that a member of a C struct is NULL, where the attribute that shows it says `None`.
use crate::ffi::struct_members;
use crate::guard::condition::DomainCheck;
use crate::semantics;
use generated::calls::Value;
use pyo3::prelude::*;
use pyo3::types::PyString;

/// What its state is written as.
pub(in crate::guard) const NULL_MEMBER: &str = "null member";

/// That the member of this name is NULL.
#[derive(Debug)]
pub struct NullMember(pub String);

impl DomainCheck for NullMember {
    fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        let field = semantics::struct_member(&self.0);
        field.is_some_and(|field| matches!(struct_members::get(value, field), Some(Value::Null)))
    }

    fn state<'py>(&self, py: Python<'py>) -> Option<(&'static str, Bound<'py, PyAny>)> {
        Some((NULL_MEMBER, PyString::new(py, &self.0).into_any()))
    }

    fn describe(&self) -> String {
        format!("has nothing in {}", self.0)
    }
}
