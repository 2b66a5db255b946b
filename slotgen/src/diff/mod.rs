//! What changed between two releases for somebody who mirrors CPython: tables, and bodies that no table shows.
//!
//! In: the facts of two releases, and which functions Rust is generated from. Out: `Diff`, as data, text or Markdown.
//! It opens no file.

mod changes;
mod compare;
mod formats;
mod functions;
pub mod meaning;
mod reach;
mod render;
mod tables;

use changes::entries;
pub use changes::{Diff, Entry, FunctionChange, Functions, Generated, Key, ReachedGroup, TypeChange};
pub use compare::{diff, generated};
