//! Walks the syntax trees of a CPython tree and states facts; tree-sitter nodes never leave this module.

mod opcodes;
mod syntax;

use crate::diagnostics::Diagnostics;
use crate::facts::Opcodes;
use crate::source::Tree;

/// Reads the instruction set of a tree; what is not understood goes to `diagnostics`.
pub fn opcodes(tree: &Tree, diagnostics: &mut Diagnostics) -> Option<Opcodes> {
    opcodes::extract(tree, diagnostics)
}
