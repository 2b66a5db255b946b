//! What C keeps in memory: members of structs, elements of arrays, buffers, and pointers to pointers.
//!
//! In: a place in memory that an expression reads or sets. Out: the call of the vocabulary that does it.

mod buffers;
mod members;
mod places;
mod reads;
mod structs;
mod writes;
