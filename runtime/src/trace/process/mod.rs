//! State of the process and the thread: locks, locale, time zone, context variables, decimal contexts, codecs, files, settings, OS signals, logs.
//!
//! In: calls of the C functions that read or change such state. Out: values under guards, and side effects in order.
//! Must not know: frames and instructions.
pub(crate) mod codec_errors;
pub(crate) mod codec_registry;
pub(crate) mod codec_search;
pub(crate) mod context_variables;
pub(crate) mod contexts;
pub(crate) mod decimals;
pub(crate) mod display;
pub(crate) mod files;
pub(crate) mod hidden_state;
pub(crate) mod interned;
pub(crate) mod interpreter;
pub(crate) mod library_modes;
pub(crate) mod locks;
pub mod os_signals;
pub(crate) mod outside_reads;
pub(crate) mod records;
pub(crate) mod settings;
pub(crate) mod time_zone;
