//! What is known beside the function under translation.
//!
//! In: declarations of headers and files, the reviewed table of contracts, what newer releases ask of their worlds.
//! Out: the convention of every function that can be called, constants, slots; the vocabulary that a release asks for.
//! It does not know how bodies are translated.

mod callee;
mod constants;
mod contracts;
mod table;
mod vocabulary;

pub(crate) use callee::Route;
pub(crate) use contracts::{Contracts, Convention, ParamKind, Returns, convention, param_kind};
pub(crate) use table::{ARRAY_NAMES, KEYWORDS, World, module, suite_of};
pub use vocabulary::{Elsewhere, Method, Vocabulary};
pub(crate) use vocabulary::{rust_param, rust_result};
