//! The Python API: the native module `slotrt._slotrt` and its submodules.
//!
//! In: calls from Python. Out: compiled callables, records of traces, the modules `slotrt.bytecode` and `slotrt.hook`.
//! It must not know how a trace is made or code is emitted.
pub(crate) mod bytecode;
#[cfg(slotrt_traces)]
mod cache;
#[cfg(slotrt_traces)]
mod compile;
#[cfg(slotrt_traces)]
mod compiled;
#[cfg(slotrt_traces)]
mod dispatch;
#[cfg(slotrt_traces)]
mod emit_host;
#[cfg(slotrt_traces)]
mod errors;
#[cfg(slotrt_traces)]
mod frame_cache;
mod frontend;
#[cfg(slotrt_hooks)]
pub(crate) mod hook;
#[cfg(slotrt_traces)]
pub(crate) mod host;
#[cfg(slotrt_traces)]
mod limits;
mod loops;
#[cfg(slotrt_traces)]
mod made_anew;
#[cfg(slotrt_traces)]
mod nested;
#[cfg(slotrt_traces)]
pub(crate) mod owner;
#[cfg(slotrt_traces)]
mod patience;
#[cfg(slotrt_traces)]
mod report;
#[cfg(slotrt_traces)]
mod session;
#[cfg(slotrt_traces)]
mod shape_rules;
#[cfg(slotrt_traces)]
mod shared;
#[cfg(slotrt_traces)]
mod trace_files;
#[cfg(slotrt_traces)]
mod trace_store;
#[cfg(slotrt_traces)]
mod tracing;
#[cfg(slotrt_traces)]
mod unit;

#[cfg(slotrt_traces)]
pub(crate) use tracing::fill;
