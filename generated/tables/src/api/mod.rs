//! The functions of `slotrt_tables.h`.
//!
//! In: a release, an index or a name, a place for the answer. Out: a status, and the answer where the status is `SLOTRT_OK`.
//! They may be called by any thread at any time. They must not know Python: what they read of live objects is memory.
mod memory;
mod opcodes;
mod releases;
mod structs;
mod types;
mod words;

pub use memory::*;
pub use opcodes::*;
pub use releases::*;
pub use structs::*;
pub use types::*;
pub use words::*;

use crate::status::{SLOTRT_NULL_ARGUMENT, SLOTRT_OK, slotrt_status};
use core::ffi::{CStr, c_char};

/// Fills in an answer, or gives the reason why there is none.
///
/// # Safety
/// `out` is NULL or points to memory for a `T`.
unsafe fn answer<T>(out: *mut T, value: impl FnOnce() -> Result<T, slotrt_status>) -> slotrt_status {
    if out.is_null() {
        return SLOTRT_NULL_ARGUMENT;
    }
    match value() {
        Ok(value) => {
            // SAFETY: it is not NULL, so the caller vouches for it.
            unsafe { out.write(value) };
            SLOTRT_OK
        }
        Err(status) => status,
    }
}

/// A text that the caller passes.
///
/// # Safety
/// `text` is NULL or points to a text that ends with NUL.
unsafe fn text<'a>(text: *const c_char) -> Result<&'a CStr, slotrt_status> {
    if text.is_null() {
        return Err(SLOTRT_NULL_ARGUMENT);
    }
    // SAFETY: it is not NULL, so the caller vouches for it.
    Ok(unsafe { CStr::from_ptr(text) })
}
