//! What the headers of an installation say of a release whose sources are not at hand.

use serde::{Deserialize, Serialize};

use super::{FunctionType, Opcodes, Struct};

/// Enough to read and write a release's code objects, and to find the fields of its frames.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Installed {
    /// The release, such as `3.12.1`.
    pub release: String,
    /// Digest of the headers.
    pub digest: String,
    /// The instruction set.
    pub opcodes: Opcodes,
    /// Layouts of structures.
    pub structs: Vec<Struct>,
    /// Typedefs of function pointers, which fields of structures have as types.
    pub function_types: Vec<FunctionType>,
}
