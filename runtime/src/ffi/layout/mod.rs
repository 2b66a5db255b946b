//! Layouts of CPython's private structures.
//!
//! In: the structures that `generated` knows of the release. Out: byte offsets, and a check that this interpreter has them.
//! It must not know what a field is read for.
mod check;
mod offsets;
mod shown;

pub(super) use check::check;
pub(super) use offsets::{code, frame, thread};
