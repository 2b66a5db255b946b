//! Errors: a code that a function returns, and a text that stays until the thread's next call.
use super::status::slotrt_status;
use pyo3::prelude::*;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};

/// Why a call did not do what it says.
#[derive(Debug)]
pub(super) struct Failure {
    pub status: slotrt_status,
    pub text: String,
}

pub(super) type Outcome<T> = Result<T, Failure>;

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

impl Failure {
    pub fn new(status: slotrt_status, text: impl Into<String>) -> Self {
        Self { status, text: text.into() }
    }

    /// A pointer that must not be NULL.
    pub fn null(name: &str) -> Self {
        Self::new(slotrt_status::SLOTRT_NULL_ARGUMENT, format!("`{name}` is NULL"))
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Python::attach(|py| {
            let internal = error.is_instance_of::<crate::internal_error::InternalError>(py);
            let status = if internal { slotrt_status::SLOTRT_INTERNAL } else { slotrt_status::SLOTRT_PYTHON_ERROR };
            Self::new(status, words(py, &error))
        })
    }
}

/// An exception as the last line of a traceback has it.
pub(super) fn words(py: Python<'_>, error: &PyErr) -> String {
    let value = error.value(py);
    let class = value.get_type().qualname().map_or_else(|_| "exception".to_owned(), |name| name.to_string());
    match value.str() {
        Ok(text) if !text.is_empty().unwrap_or(true) => format!("{class}: {text}"),
        _ => class,
    }
}

/// Keeps the text of this thread's last error.
pub(super) fn remember(text: &str) {
    let text = CString::new(text.replace('\0', "\\0")).unwrap_or_default();
    let _ = LAST.try_with(|last| last.try_borrow_mut().map(|mut last| *last = text));
}

/// The text of the last error on this thread: of the last function that did not return `SLOTRT_OK`, or of the last callback of the host
/// that failed. An empty text if there was none; never NULL. It stays valid until the thread's next error.
#[unsafe(no_mangle)]
pub extern "C" fn slotrt_last_error() -> *const c_char {
    let empty: &CStr = c"";
    LAST.try_with(|last| last.try_borrow().map_or(empty.as_ptr(), |last| last.as_ptr())).unwrap_or(empty.as_ptr())
}
