//! CPython's memory: the only room with `unsafe`; everything else reads and calls the interpreter through it.
pub mod callable;
pub mod function;
pub mod types;

pub use callable::{Args, Chosen, Dispatch};
