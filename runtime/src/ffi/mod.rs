//! CPython's memory, and what PyTorch's libraries tell: the only room with `unsafe`; everything else reads and calls through it.
//!
//! In: objects, frames and addresses of the interpreter. Out: typed reads, calls, callables, the hook, watches.
//! Rooms from low to high: `raw`, `release`, `layout`, `types`, `references`, `objects`, `code`, `frames`, `callable`, `hook`; beside these `capi`,
//! `watch` and `libtorch`. It must not know tracing, graphs or guards.
#[cfg(slotrt_hooks)]
pub(crate) mod allocator;
#[cfg(slotrt_hooks)]
mod arguments;
#[cfg(slotrt_hooks)]
pub mod callable;
#[cfg(slotrt_live)]
mod capi;
pub mod code;
#[cfg(slotrt_hooks)]
mod frames;
#[cfg(slotrt_hooks)]
pub mod hook;
#[cfg(slotrt_hooks)]
mod layout;
#[cfg(slotrt_traces)]
pub mod libtorch;
#[cfg(slotrt_hooks)]
pub(crate) mod modules;
#[cfg(slotrt_hooks)]
mod native_stack;
#[cfg(slotrt_hooks)]
mod objects;
#[cfg(slotrt_hooks)]
pub mod other_compiler;
#[cfg(slotrt_hooks)]
mod raw;
#[cfg(slotrt_traces)]
mod references;
#[cfg(slotrt_hooks)]
mod release;
#[cfg(slotrt_hooks)]
pub mod types;
#[cfg(slotrt_traces)]
pub mod watch;

#[cfg(slotrt_hooks)]
pub use arguments::Args;
#[cfg(slotrt_live)]
pub(crate) use capi::{
    argument_parser, c_calls, exported, header_fields, keyword_parser, object_data, pointer, struct_members,
    symbol_table,
};
#[cfg(slotrt_hooks)]
pub(crate) use code::extra;
#[cfg(slotrt_traces)]
pub use code::instruction;
#[cfg(slotrt_hooks)]
pub use code::{function, root};
#[cfg(slotrt_hooks)]
use frames::generator_survivors;
#[cfg(slotrt_traces)]
pub use frames::observers;
#[cfg(slotrt_hooks)]
pub(crate) use frames::units;
#[cfg(slotrt_hooks)]
pub use frames::{delegation, eval_breaker, frame, program_frames, surviving_frames, traceback};
#[cfg(slotrt_hooks)]
pub(crate) use objects::callee;
#[cfg(slotrt_traces)]
pub use objects::{
    buffers, collector, containers, contexts, dict_table, iterator_parts, iterators, key_hashes, lru_cache,
    ordered_dict, random_numbers, thread_locals, tuple_hashes,
};
#[cfg(slotrt_hooks)]
pub use objects::{context_variable, inspect, ndarray, set_table, snapshot};
#[cfg(slotrt_traces)]
pub(crate) use references::held;
#[cfg(slotrt_traces)]
pub use references::{codec_tables, garbage, referents, weak_references};
#[cfg(slotrt_hooks)]
pub use types::{flag, sequence_slots, slot_call};
