//! `CApi` over real objects: generated functions run on what the interpreter has, which proves that they are right.
//!
//! In: generated functions and Python objects. Out: what the functions give, as `slotrt.protocol`.
//! It must not know tracing.
mod call;
pub(crate) mod checks;
mod exception;
mod format;
mod function;
pub(crate) mod globals;
mod identity;
mod inline;
mod internal_methods;
mod internals;
mod members;
mod object_memory;
mod pointers;
pub mod protocol;
mod route;
mod slots;
mod vocabulary;
mod within;
mod world;
