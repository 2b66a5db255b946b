//! Conditions on byte arrays and on views of bytes.
use crate::ffi::buffers::{self, Part};
use crate::guard::condition::DomainCheck;
use pyo3::prelude::*;
use pyo3::types::PyByteArray;

/// That a byte array holds these bytes, and that somebody has a view of it, or that nobody has.
#[derive(Debug)]
pub struct BytesContent {
    content: Vec<u8>,
    viewed: bool,
}

impl BytesContent {
    /// As the byte array is now.
    #[must_use]
    pub fn of(bytes: &Bound<'_, PyByteArray>) -> Self {
        Self { content: bytes.to_vec(), viewed: buffers::is_viewed(bytes) }
    }
}

impl DomainCheck for BytesContent {
    fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        let bytes = value.cast_exact::<PyByteArray>().ok();
        bytes.is_some_and(|bytes| buffers::is_viewed(bytes) == self.viewed && buffers::holds(bytes, &self.content))
    }

    fn describe(&self) -> String {
        format!(
            "holds {:?}{}",
            String::from_utf8_lossy(&self.content),
            if self.viewed { ", and is viewed" } else { "" }
        )
    }
}

/// That a view of single bytes shows this part of what it is a view of.
#[derive(Debug)]
pub struct ShownPart(pub Part);

impl DomainCheck for ShownPart {
    fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        buffers::viewed(value).is_some_and(|(_, part)| part == self.0)
    }

    fn describe(&self) -> String {
        let Part { offset, length, readonly } = &self.0;
        format!("shows {length} bytes from {offset} on{}", if *readonly { ", and changes none" } else { "" })
    }
}
