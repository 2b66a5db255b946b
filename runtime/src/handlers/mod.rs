//! Frame handlers that prove the hook and the splitting of frames, without a tracer.
//!
//! In: frames from the hook. Out: frames that run as they are, from a copy of their code, or split at one instruction; counts of these.
//! It must not know tracing.
mod counters;
mod coverage;
mod observe;
mod replace;
mod split_every;
pub(crate) mod split_function;

pub(crate) use counters::Counters;
pub(crate) use coverage::Row;
pub(crate) use observe::Observe;
pub(crate) use replace::{CodeCopy, Replace};
pub(crate) use split_every::{Named, SplitEvery};
