//! Expressions on one path: operators, conditions, assignments.
//!
//! In: an expression of C and the state of a path. Out: its value, and the path that goes on with it.

mod assign;
mod eval;
mod operators;

pub(crate) use eval::{KVs, wrap};
pub(crate) use operators::is_null;
