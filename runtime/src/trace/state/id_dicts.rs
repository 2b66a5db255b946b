//! Where numbers that `id` has given are in a trace, and in dicts of its own.
use crate::trace::state::value::ValueId;
use rustc_hash::FxHashSet;

/// What the trace does with numbers of `id`.
#[derive(Debug, Default)]
pub(crate) struct IdDicts {
    /// The instruction at hand calls `id`, and nothing else.
    pub(crate) is_asked: bool,
    /// The last instruction makes such a dict.
    pub(crate) makes: bool,
    /// The last instruction raises an exception that tells such a number.
    pub(crate) raises: bool,
    /// Such dicts, by their addresses.
    pub(crate) dicts: FxHashSet<usize>,
    /// Such exceptions.
    pub(crate) exceptions: FxHashSet<ValueId>,
    /// The trace may have given variables of frames to whoever does anything with them.
    pub(crate) sees_variables: bool,
}
