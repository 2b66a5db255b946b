//! The tables of a compiled CPython, which is never run.
//!
//! In: a library, its modules, the headers of its release. Out: `Library`, with the same slot definitions and types
//! that the sources state. It reads symbols, relocations and data, and does not know C.

mod abi;
mod build;
mod error;
mod image;
mod library;
mod neighbours;
mod reader;
mod tables;

pub use build::{Build, symbols_of};
pub use error::BinaryError;
pub use library::Library;
pub use reader::Reader;
