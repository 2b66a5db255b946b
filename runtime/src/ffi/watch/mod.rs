//! Watches: what CPython says of changes to dicts, classes and functions while they are made (3.12 and later).
//!
//! A watch breaks when something that it was set on may be about to change; it never tells more, and it may break for nothing. On 3.11,
//! and where no watcher is free, no watch can be made, and who wanted one looks for itself.
#[cfg(Py_3_12)]
mod bell;
#[cfg(Py_3_12)]
mod table;
#[cfg(not(Py_3_12))]
mod unheard;
#[cfg(Py_3_12)]
mod watchers;

#[cfg(Py_3_12)]
pub use bell::Watch;
#[cfg(not(Py_3_12))]
pub use unheard::{Watch, counts};
#[cfg(Py_3_12)]
pub use watchers::counts;
