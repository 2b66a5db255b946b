//! Splits a C function into its paths: statements, and the places where paths meet.
//!
//! In: the statements of a function and the state of a path. Out: a block in which every path ends.
//! How an expression is computed it leaves to the other rooms.

mod declare;
mod labels;
mod loops;
mod returns;
mod statements;

pub(crate) use statements::{K, KV, Out, Paths, Refusal};
