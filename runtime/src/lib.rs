//! Hooks CPython frames, traces bytecode with the generated object model, emits graphs, guards and new bytecode.
pub mod bytecode;
#[cfg(slotrt_supported)]
pub mod domain;
pub mod ffi;
pub mod graph;
pub mod guard;
pub mod trace;
