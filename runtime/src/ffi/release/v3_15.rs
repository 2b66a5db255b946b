//! CPython 3.15: frames as in 3.14, in a thread's state that is laid out otherwise.
pub use super::v3_14::*;
