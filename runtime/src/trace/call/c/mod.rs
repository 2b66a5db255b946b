//! Calls of C functions and of objects that C calls.
//!
//! In: a C callable and its arguments. Out: a value, CPython's exception, or a graph break that names the function.
//! Must not know: how Python functions are called.
mod acting;
pub(crate) mod disguises;
pub(crate) mod function;
pub(crate) mod memory_sizes;
pub(crate) mod models;
pub(crate) mod outside_objects;
