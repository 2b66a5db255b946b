//! Expressions on one path: operators, conditions, assignments.
//!
//! In: an expression of C and the state of a path. Out: its value, and the path that goes on with it.
//! Calls and memory it leaves to the rooms for them.

mod assign;
mod conditions;
mod eval;
mod identity;
mod operators;
mod pointers;
