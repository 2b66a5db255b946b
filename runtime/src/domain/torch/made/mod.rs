//! Tensors that are made of what is none, and the other way round: arrays of numpy, lists of numbers, classes that are called.
//!
//! In: a call and its operands. Out: what it gives. It must not know the tracer.
mod arrays;
mod constructors;
pub(super) mod listed;
