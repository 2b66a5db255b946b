//! The Rust to be, as a tree of blocks in which every path ends.
//!
//! In: blocks that the path splitting builds. Out: the tokens of a function body that reads like the C.
//! It knows variables and tests of Rust, nothing of C.

mod print;
mod simplify;
mod tree;

pub(crate) use print::{body, definitions, safe};
pub(crate) use simplify::{clean, inline, merge, prune};
pub(crate) use tree::{Block, JoinId, Test, Var, count, ident};
