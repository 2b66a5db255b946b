//! A guard on methods that C binds anew at each call.
use crate::ffi::callee;
use crate::guard::condition::DomainCheck;
use pyo3::prelude::*;

/// That a function of C is this one, whatever it is bound to.
#[derive(Debug)]
pub struct BoundMethod {
    definition: usize,
    name: String,
}

impl BoundMethod {
    /// The one that is bound here; `None`: it is no function of C.
    #[must_use]
    pub fn of(object: &Bound<'_, PyAny>) -> Option<Self> {
        let name = callee::name_of(object).into_owned();
        callee::definition_of(object).map(|definition| Self { definition, name })
    }
}

impl DomainCheck for BoundMethod {
    fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        callee::definition_of(value) == Some(self.definition)
    }

    fn describe(&self) -> String {
        format!("is the method {} of C", self.name)
    }
}
