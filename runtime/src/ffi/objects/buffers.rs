//! Byte arrays, and views of bytes: who looks at them, and at which part.
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView};
use pyo3::{ffi, intern};

/// Whether somebody has a view of a byte array, which then keeps its size.
#[must_use]
pub fn is_viewed(bytes: &Bound<'_, PyByteArray>) -> bool {
    // SAFETY: a live byte array, whose layout is that of the release; only a number is read.
    unsafe { (*bytes.as_ptr().cast::<ffi::PyByteArrayObject>()).ob_exports > 0 }
}

/// Whether a byte array holds these bytes.
#[must_use]
pub fn holds(bytes: &Bound<'_, PyByteArray>, content: &[u8]) -> bool {
    // SAFETY: attached, and nothing runs while the bytes are compared: nobody changes them or their number.
    unsafe { bytes.as_bytes() == content }
}

/// The part of an object that a view shows.
#[derive(Debug, PartialEq, Eq)]
pub struct Part {
    /// From which byte on.
    pub offset: usize,
    /// How many.
    pub length: usize,
    /// Whether it refuses to change them.
    pub readonly: bool,
}

/// The `bytes` or `bytearray` of which a `memoryview` shows single bytes, one after the other; `None`: it is another view.
#[must_use]
pub fn viewed<'py>(view: &Bound<'py, PyAny>) -> Option<(Bound<'py, PyAny>, Part)> {
    let py = view.py();
    let view = view.cast_exact::<PyMemoryView>().ok()?;
    let object = view.getattr(intern!(py, "obj")).ok()?;
    if !object.is_exact_instance_of::<PyBytes>() && !object.is_exact_instance_of::<PyByteArray>() {
        return None;
    }
    let format = view.getattr(intern!(py, "format")).ok()?;
    let (whole, shown) = (PyBuffer::<u8>::get(&object).ok()?, PyBuffer::<u8>::get(view).ok()?);
    let plain = shown.dimensions() == 1 && shown.item_size() == 1 && shown.is_c_contiguous();
    let offset = (shown.buf_ptr() as usize).checked_sub(whole.buf_ptr() as usize)?;
    let length = shown.len_bytes();
    let fits = offset + length <= whole.len_bytes() && format.eq("B").unwrap_or(false);
    (plain && fits).then_some((object, Part { offset, length, readonly: shown.readonly() }))
}
