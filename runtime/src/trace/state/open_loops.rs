//! Loops of which the trace does not know how many steps they have.
use super::value::ValueId;

/// What [`super::value::New::Opaque`] calls a range of such a loop, and iterators.
pub(crate) const RANGE: &str = "range";
pub(crate) const RANGE_ITERATOR: &str = "range_iterator";
pub(crate) const LIST_ITERATOR: &str = "list_iterator";
pub(crate) const ENUMERATE: &str = "enumerate";
pub(crate) const ZIP: &str = "zip";

/// A range that a loop is to go over, or an iterator of a loop and how far it has come.
#[derive(Clone, Debug)]
pub(crate) struct OpenLoop {
    pub(crate) value: ValueId,
    pub(crate) over: Over,
}

/// What it goes over.
#[derive(Clone, Debug)]
pub(crate) enum Over {
    /// `range(next, stop, step)`, after `last`.
    Range { last: Option<ValueId>, next: ValueId, stop: ValueId, step: i64 },
    /// Lists from outside, from these items on: the first one's items, or in tuples; where they are counted, the number of the first.
    Lists { lists: Vec<ValueId>, next: usize, first: i64 },
}
