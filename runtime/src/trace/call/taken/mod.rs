//! Calls of a library's functions that are handed to code of Python: to methods of the classes of arguments, and to modes.
//!
//! In: a call and its arguments. Out: what the method gives that takes it over.
//! Must not know: what the library's functions do.
pub(crate) mod classes;
pub(crate) mod dispatched;
pub(crate) mod modes;
pub(crate) mod native;
mod native_gradients;
