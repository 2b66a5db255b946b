//! CPython's memory: the only room with `unsafe`; everything else reads and calls the interpreter through it.
pub(crate) mod allocator;
#[cfg(slotrt_traces)]
pub mod caches;
pub mod callable;
pub(crate) mod called;
pub(crate) mod code;
#[cfg(slotrt_traces)]
pub mod collector;
pub mod context;
mod delegated;
mod extra;
#[cfg(slotrt_live)]
pub(crate) mod fields;
pub mod flag;
pub mod frame;
pub mod function;
pub mod guard;
pub mod handlers;
pub mod heirs;
pub mod hook;
#[cfg(slotrt_traces)]
pub mod instruction;
pub mod interrupts;
mod layout;
#[cfg(slotrt_live)]
pub(crate) mod live;
#[cfg(slotrt_live)]
pub(crate) mod memory;
#[cfg(slotrt_traces)]
pub mod modules;
#[cfg(slotrt_live)]
pub(crate) mod native;
pub mod ndarray;
pub mod originals;
#[cfg(slotrt_live)]
pub(crate) mod parse;
#[cfg(slotrt_live)]
pub(crate) mod pointer;
pub mod python;
#[cfg(slotrt_traces)]
pub mod references;
mod release;
pub mod sequences;
pub mod sets;
pub mod slots;
mod stack;
#[cfg(slotrt_live)]
pub(crate) mod symbols;
mod takeover;
pub mod traceback;
pub mod types;
#[cfg(slotrt_traces)]
pub mod watch;

pub use callable::{Args, Chosen, Dispatch};
