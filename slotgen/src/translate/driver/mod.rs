//! Translates the functions of a tree, again and again until what they say of one another no longer changes.
//!
//! In: the C files of a release. Out: a `Translation`: every body, what was left out and why, and what share that is.
//! It does not know how Rust files are laid out.

mod coverage;
mod fixpoint;
mod null_tests;
mod parameters;
mod rounds;
mod tables;
mod translated;

pub use coverage::{Share, shares};
#[cfg(test)]
pub(crate) use fixpoint::of_text;
pub use fixpoint::{Translation, translate};
pub use translated::{Left, Translated};
