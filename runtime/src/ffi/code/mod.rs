//! Code objects, and functions made from them.
//!
//! In: Python's code objects. Out: their fields, `bytecode::Code` decoded and assembled, functions that run them.
//! It must not know frames or compiled callables.
mod constants;
mod conversion;
#[cfg(slotrt_hooks)]
pub(crate) mod extra;
#[cfg(slotrt_hooks)]
pub mod fields;
#[cfg(slotrt_hooks)]
pub mod function;
#[cfg(slotrt_traces)]
pub mod instruction;
#[cfg(slotrt_hooks)]
pub mod root;

#[cfg(slotrt_traces)]
pub(crate) use fields::name_at;
