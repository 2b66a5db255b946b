//! Splits a C function into its paths, statement by statement.
//!
//! In: the statements of a function and the state of a path. Out: a block in which every path ends.
//! How an expression is computed it leaves to the other rooms.

mod declare;
mod labels;
mod loops;
mod returns;
mod statements;
