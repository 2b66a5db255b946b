//! Exceptions: raising, contexts, tracebacks and their frames, groups, warnings.
//!
//! In: an exception value, or what C raised. Out: the exception as plain Python would have it.
//! Must not know: how handlers are found; `instructions` and `run` do that.
pub(crate) mod domain_warnings;
pub(crate) mod filtered_warnings;
pub(crate) mod frame_locals;
pub(crate) mod group_tracebacks;
pub(crate) mod issued_warnings;
pub(crate) mod raising;
pub(crate) mod tracebacks;
pub(crate) mod warnings;
