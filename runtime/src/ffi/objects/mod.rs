//! Objects of the interpreter, read and set where no function of Python does.
//!
//! In: live objects of known types. Out: what they hold: parts of functions, tables of sets, caches, referents, modules.
//! It must not know code objects, frames or guards.
#[cfg(slotrt_traces)]
pub mod buffers;
pub(crate) mod callee;
#[cfg(slotrt_traces)]
pub mod collector;
#[cfg(slotrt_traces)]
pub mod containers;
pub mod context_variable;
#[cfg(slotrt_traces)]
pub mod contexts;
#[cfg(slotrt_traces)]
pub mod dict_table;
pub mod inspect;
#[cfg(slotrt_traces)]
mod iterator_copies;
#[cfg(slotrt_traces)]
mod iterator_fields;
#[cfg(slotrt_traces)]
pub mod iterator_parts;
#[cfg(slotrt_traces)]
pub mod iterators;
#[cfg(slotrt_traces)]
pub mod key_hashes;
#[cfg(slotrt_traces)]
pub mod lru_cache;
pub mod ndarray;
#[cfg(slotrt_traces)]
pub mod ordered_dict;
#[cfg(slotrt_traces)]
pub mod random_numbers;
#[cfg(slotrt_traces)]
mod samples;
#[cfg(slotrt_traces)]
mod set_entries;
pub mod set_table;
pub mod snapshot;
#[cfg(slotrt_traces)]
pub mod thread_locals;
#[cfg(slotrt_traces)]
pub mod tuple_hashes;
