//! Values that cannot leave the trace.
use super::unwind::Traced;

/// Why a trace cannot end here: a value that cannot be made again was made at this step of the outermost frame.
#[derive(Debug)]
pub(crate) struct Escape {
    pub(crate) step: u64,
    pub(crate) what: String,
}

/// Result of describing: an escape is no signal, the trace is repeated up to it.
pub(crate) type Materialised<T> = Traced<Result<T, Escape>>;
