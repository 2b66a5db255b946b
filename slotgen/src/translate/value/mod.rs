//! What is known of a C value on one path.
//!
//! In: the Rust variables of `block`. Out: values, the state of a path, and the kind of variable that can hold several values.
//! It does not know how C computes values or which functions exist.

mod integers;
mod join;
mod kinds;

pub(crate) use integers::{fold, int_type, positive, wider, wrap};
pub(crate) use join::{held, kind, same_kind};
pub(crate) use kinds::{Place, State, Val, common};
