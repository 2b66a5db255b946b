//! Calls on one path: arguments, what a callee sets, its result, and the path on which it raised.
//!
//! In: a callee and values. Out: the Rust call of a translated function or of a method of `CApi`.

mod apply;
mod outcome;
mod outs;
mod parsing;
mod pass;
