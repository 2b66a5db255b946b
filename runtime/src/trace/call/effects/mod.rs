//! Which C functions may run during a trace: those whose effects are confined to their arguments, and a short reviewed list.
//!
//! In: a C function. Out: whether it may run, and what it may change. Must not know: values of the trace.
pub(crate) mod allowed;
pub(crate) mod locale_formats;
pub(crate) mod observers;
pub(crate) mod reviewed;
