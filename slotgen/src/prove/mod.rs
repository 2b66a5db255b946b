//! The proof of the tables: what they predict for every slot against what a running interpreter holds.
//!
//! In: facts, a library or an interpreter, the reviewed exceptions. Out: every difference, with the reason where one is known.
//! It does not know how facts are found.

mod answer;
mod compare;
mod drift;
mod error;
mod exceptions;
mod front_ends;
mod interpreter;
mod symbols;
mod tables;

pub use compare::{Difference, LiveProof};
pub use drift::{FrontEnd, Proof, explain_drift};
pub use error::ProveError;
pub use exceptions::{Alone, Side};
pub use front_ends::{FrontEndDifference, FrontEndsProof, front_ends};
pub use interpreter::live;
