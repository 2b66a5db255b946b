//! Turns a C file of CPython into C that tree-sitter-c parses whole: conditionals decided, local macros expanded, API macros kept.
//!
//! In: a file of a tree and a configuration. Out: `Unit`: the text, where each byte of it came from, the macros.
//! It knows nothing of slots, types or Python.

mod condition;
mod configuration;
mod expand;
mod expander;
mod headers;
mod include;
mod lex;
mod macros;
mod map;
mod print;
mod program;
mod rules;
mod runner;
mod shared;
mod substitute;
mod token;
mod unit;

#[cfg(test)]
mod tests;

pub use configuration::{Configuration, ConfigurationError};
pub use headers::run;
pub use map::{Origin, SourceMap};
pub use shared::Preprocessor;
pub use unit::{MacroDefinition, Unit};
