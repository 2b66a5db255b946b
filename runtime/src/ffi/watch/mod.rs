//! Watches: CPython tells of changes to dicts, classes and functions while they are made (3.12 and later).
//!
//! In: what a watch is set on, with a mark. Out: whether it still holds, and the mark of what changed first.
//! A watch may be invalidated for nothing. On 3.11, and where no watcher is free, no watch can be made: its user checks instead.
//! It must not know guards.
#[cfg(Py_3_12)]
mod guard_watch;
#[cfg(Py_3_12)]
mod invalidation;
#[cfg(Py_3_12)]
mod kept;
#[cfg(Py_3_12)]
mod place;
#[cfg(Py_3_12)]
mod registry;
#[cfg(not(Py_3_12))]
mod unsupported;
#[cfg(Py_3_12)]
mod watchers;

#[cfg(Py_3_12)]
pub use guard_watch::Watch;
#[cfg(Py_3_12)]
pub use kept::{Kept, Owner, Word};
#[cfg(not(Py_3_12))]
pub use unsupported::{Kept, Owner, Watch, Word, counts};
#[cfg(Py_3_12)]
pub use watchers::counts;
