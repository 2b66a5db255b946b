//! Traces on disk: a process that runs the same program finds there what an earlier one has traced.
//!
//! In: objects, code and guards of traces. Out: bytes, and the same again from them, in a process whose objects lie elsewhere.
//! An object is written as its value, or as the way to it from a module, with a fingerprint of what a trace may know of it.
//! It must not know what a trace is, or who compiles.
mod bytes;
mod code;
mod digest;
mod file;
mod fingerprint;
mod misfit;
mod object_kinds;
mod objects;
mod process_bound;
mod reach;
mod way;

pub use bytes::{Damaged, Reader, Writer, at_place, place_in};
pub use code::{read_code, write_code};
pub use digest::{bytes_digest, code_digest};
pub use file::{Environment, FileError, read_file, write_file};
pub use fingerprint::{Fingerprints, is_plain};
pub use misfit::Misfit;
pub use objects::{CALL, In, Out, Special};
pub use process_bound::{
    Bound as ProcessBound, Seen, bound_to_process, changes_sets, is_builtin_function, is_hashed_by_value,
    is_id_function, is_ordered_set, is_orderless, is_orderless_callable, names_all_arguments, only_moves,
    sees_variables, tells_process,
};
pub use reach::{Nearby, Reach};
