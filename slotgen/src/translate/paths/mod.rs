//! The translation of one function under way, split into its paths.
//!
//! In: a function, its convention, the world around it. Out: `Paths`, with which the rooms above it translate, and
//! the places where paths part, meet, and carry values along. It does not know what statements and expressions mean.

mod carry;
mod join;
mod state;

pub(crate) use join::{last_part, with_var};
pub(crate) use state::{JumpTargets, K, KV, KVs, Label, Out, Paths, Refusal};
