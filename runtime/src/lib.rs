//! Hooks CPython frames, traces bytecode with the generated object model, emits graphs, guards and new bytecode.
// What is there for the tracer alone is not used where a release is not traced.
#![cfg_attr(not(slotrt_traces), allow(dead_code, unused_imports))]
#[cfg(slotrt_bytecode)]
pub mod bytecode;
#[cfg(slotrt_traces)]
pub mod c_api;
#[cfg(slotrt_traces)]
pub mod domain;
#[cfg(slotrt_traces)]
pub mod emit;
#[cfg(slotrt_bytecode)]
pub mod ffi;
#[cfg(slotrt_traces)]
pub mod graph;
#[cfg(slotrt_traces)]
pub mod graph_break;
#[cfg(slotrt_traces)]
pub mod guard;
#[cfg(slotrt_hooks)]
mod handlers;
#[cfg(slotrt_hooks)]
pub mod internal_error;
#[cfg(slotrt_live)]
pub mod live;
#[cfg(slotrt_hooks)]
mod names;
#[cfg(slotrt_bytecode)]
mod python;
#[cfg(slotrt_live)]
mod semantics;
#[cfg(slotrt_hooks)]
pub mod split;
#[cfg(slotrt_traces)]
pub mod stored;
mod surface;
#[cfg(slotrt_traces)]
pub mod symbol;
#[cfg(slotrt_traces)]
pub mod trace;

#[cfg(slotrt_traces)]
pub use python::host::add_domain;

use pyo3::prelude::*;

#[cfg(slotrt_hooks)]
#[global_allocator]
static ALLOCATOR: ffi::allocator::Allocator = ffi::allocator::Allocator;

/// The native half of the package `slotrt`.
#[pymodule]
#[pyo3(name = "_slotrt")]
fn native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    surface::fill(module)
}
