//! CPython's C functions, macros and struct members by name: what translated functions use on real objects.
//!
//! In: names and pointers of `generated`. Out: calls of exported and hidden C functions, reads and writes of members.
//! It must not know which translated function asks.
pub(crate) mod argument_parser;
pub(crate) mod c_calls;
pub(crate) mod exported;
pub(crate) mod header_fields;
pub(crate) mod keyword_parser;
pub(crate) mod object_data;
pub(crate) mod pointer;
pub(crate) mod struct_members;
pub(crate) mod symbol_table;
