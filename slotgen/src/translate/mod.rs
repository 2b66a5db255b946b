//! Translates C function bodies into Rust that is generic over the vocabulary `CApi`.
//!
//! In: the C files of a release, lowered. Out: Rust files, and the vocabulary that they ask for.
//! The order of the rooms: `block`, `value`, `world`, `paths`, then the rooms that split a function into paths
//! (`statement`, `expression`, `memory`, `call`), then `driver`, then `check`, then `render`. It has no rule for a single function.

mod block;
mod call;
mod check;
mod driver;
mod expression;
mod memory;
mod paths;
mod render;
mod statement;
#[cfg(test)]
mod tests;
mod units;
mod value;
mod world;

#[cfg(test)]
pub(crate) use driver::of_text;
pub use driver::{Left, Share, Translated, Translation, shares};
pub use render::{Arm, Dispatcher, Function, Head, Output, Rendered, Unit, capi, release, rendered, translate};
pub use units::UNITS;
pub use world::{Elsewhere, Method, Vocabulary};
