//! A preprocessed file, as data.

use std::ops::Range;

use super::map::SourceMap;
use crate::diagnostics::Diagnostics;

/// A preprocessed file.
#[derive(Debug, Clone)]
pub struct Unit {
    /// Path of the file, relative to the root of the tree.
    pub path: String,
    /// C without comments and directives; API macros look like calls or identifiers.
    pub text: String,
    /// The insides of function bodies in `text`, in order: what stands between the braces.
    pub bodies: Vec<Range<u32>>,
    /// Where each byte of `text` came from.
    pub map: SourceMap,
    /// Macros that the file, and the local files it includes, define (the last definition of each name), sorted by name.
    pub macros: Vec<MacroDefinition>,
    /// What was noticed but does not spoil the text.
    pub warnings: Diagnostics,
}

/// A `#define`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MacroDefinition {
    /// Its name.
    pub name: String,
    /// Parameters; `None` for an object-like macro.
    pub parameters: Option<Vec<String>>,
    /// The replacement, white space reduced.
    pub body: String,
    /// Path of the file, relative to the root of the tree.
    pub file: String,
    /// Line of the name, from 1.
    pub line: u32,
}
