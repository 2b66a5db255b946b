//! Walks the syntax trees of a CPython tree and states facts; tree-sitter nodes never leave this module.

mod opcodes;
mod syntax;

use crate::diagnostics::Diagnostics;
use crate::facts::{Facts, Origin};
use crate::source::Tree;

/// Reads everything that is extracted from a tree; what is not understood goes to `diagnostics`.
pub fn extract(tree: &Tree, diagnostics: &mut Diagnostics) -> Option<Facts> {
    let opcodes = opcodes::extract(tree, diagnostics);
    Some(Facts { release: tree.release().to_string(), source: Origin::C, digest: tree.digest(), opcodes: opcodes? })
}
