//! The end of a trace: changed copies become side effects, what leaves is described so that emitted code can make it again.
//!
//! In: a trace and how it ended. Out: its [`Outcome`](super::state::outcome::Outcome)'s values, effects and guards, in order.
//! Must not know: bytecode.
pub(crate) mod advances;
pub(crate) mod aliases;
pub(crate) mod break_errors;
pub(crate) mod c_objects;
pub(crate) mod coalesce;
pub(crate) mod copy_changes;
pub(crate) mod descriptors;
pub(crate) mod exceptions;
pub(crate) mod hashed_entries;
pub(crate) mod instances;
pub(crate) mod iterators;
pub(crate) mod key_hashes;
mod late_changes;
pub(crate) mod materialise;
pub(crate) mod order;
mod passed_checks;
pub(crate) mod shared_dicts;
pub(crate) mod undo;
