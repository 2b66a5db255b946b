//! Operators and protocols: each goes to the generated `PyNumber_*`, `PyObject_*` and `PySequence_*` functions.
//!
//! In: the name of an operation and its operands. Out: what generated code answers in the symbolic world of `capi`.
//! Must not know: a dispatch rule of its own. CPython: `Objects/abstract.c`, `Objects/object.c`.
pub(crate) mod binary;
pub(crate) mod by_name;
pub(crate) mod capi;
pub(crate) mod drawn_numbers;
pub(crate) mod keys;
pub(crate) mod outside;
pub(crate) mod outside_appends;
pub(crate) mod outside_containers;
pub(crate) mod outside_entries;
pub(crate) mod outside_growth;
pub(crate) mod outside_hashed_changes;
pub(crate) mod outside_hashes;
pub(crate) mod outside_iterators;
pub(crate) mod outside_steps;
pub(crate) mod outside_wholes;
pub(crate) mod protocol;
pub(crate) mod tuple_hashes;
