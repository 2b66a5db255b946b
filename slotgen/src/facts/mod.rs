//! The facts of a release as plain data: what the sources say, nothing derived.

mod expression;
mod opcodes;

use serde::{Deserialize, Serialize};

pub use expression::{Expression, ExpressionError, integer};
pub use opcodes::{Opcode, OpcodeKind, Opcodes};

/// Where facts come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// C sources.
    C,
    /// A compiled library.
    Binary,
}

/// Everything that is known of a release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// The release, such as `3.13.5`.
    pub release: String,
    /// Where the facts come from.
    pub source: Origin,
    /// Digest of the sources.
    pub digest: String,
    /// The instruction set.
    pub opcodes: Opcodes,
}
