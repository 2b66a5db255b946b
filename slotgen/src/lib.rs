//! Reads CPython's C sources and generates the Rust of the `generated` crate; one module per stage, in the order of the data flow.

pub mod binary;
pub mod diagnostics;
pub mod diff;
pub mod effects;
pub mod emit;
pub mod extract;
pub mod facts;
pub(crate) mod lower;
pub mod meaning;
pub mod model;
pub mod preprocess;
pub mod prove;
pub mod share;
pub mod source;
pub mod translate;
pub mod unchanged;

mod generate;

pub use generate::{
    GenerateError, Read, Report, committed, elsewhere, facts_of, generate, generate_binary, generate_installed,
};
