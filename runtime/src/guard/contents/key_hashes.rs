//! Conditions on the hashes that C keeps with the keys of dicts and sets, and on whether there are any.
use crate::ffi::set_table::SetLayout;
use crate::ffi::{containers, key_hashes};
use crate::guard::condition::DomainCheck;
use pyo3::prelude::*;

/// Of a dict: that its keys have these hashes, in their order.
#[derive(Debug)]
pub struct KeyHashes(pub Vec<isize>);

impl DomainCheck for KeyHashes {
    fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        let held = key_hashes::all(value);
        held.is_some_and(|held| held.iter().map(|held| held.hash).eq(self.0.iter().copied()))
    }

    fn describe(&self) -> String {
        format!("has {} keys with the same hashes", self.0.len())
    }
}

/// Of a set: that it keeps keys with the same hashes at the same places.
#[derive(Debug)]
pub struct SetShape(pub SetLayout);

impl DomainCheck for SetShape {
    fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        self.0.is_shape_of(value)
    }

    fn describe(&self) -> String {
        "has keys with the same hashes at the same places".to_owned()
    }
}

/// Of a dict: that it has entries.
#[derive(Debug)]
pub struct NotEmpty;

impl DomainCheck for NotEmpty {
    fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        containers::builtin_length(value).is_some_and(|length| length > 0)
    }

    fn same(&self, other: &dyn DomainCheck, _py: Python<'_>) -> bool {
        (other as &dyn std::any::Any).is::<Self>()
    }

    fn describe(&self) -> String {
        "is not empty".to_owned()
    }
}
