//! What changed between two releases by what functions mean, told by operation, the most used first.
//!
//! In: `Meanings` and facts of two releases. Out: `ByMeaning`, as data, text or Markdown.

mod changes;
mod compare;
mod render;

pub use changes::{ByMeaning, Change, Kind, Row};
pub use compare::by_meaning;
