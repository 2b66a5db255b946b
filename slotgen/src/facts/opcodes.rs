//! What the headers say about opcodes.

use serde::{Deserialize, Serialize};

use super::Expression;

/// The instruction set of a release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opcodes {
    /// `HAVE_ARGUMENT`.
    pub have_argument: u16,
    /// Every opcode, by number.
    pub opcodes: Vec<Opcode>,
}

/// What kind of instruction a number stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OpcodeKind {
    /// The compiler emits it.
    Real,
    /// The interpreter puts it in place of a real one once it knows the operands.
    Specialised,
    /// Monitoring puts it in place of a real one.
    Instrumented,
    /// Exists only inside the compiler.
    Pseudo,
}

/// One opcode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opcode {
    /// CPython's name.
    pub name: String,
    /// Its number; above 255 for pseudo instructions.
    pub number: u16,
    /// What kind it is.
    pub kind: OpcodeKind,
    /// For specialised and instrumented ones: the real opcode they stand for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub base: Option<String>,
    /// Inline cache entries that follow it, in code units.
    pub caches: u8,
    /// Flags without their `HAS_` and `_FLAG`, in the order of the header.
    pub flags: Vec<String>,
    /// Stack entries taken, by `oparg`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub popped: Option<Expression>,
    /// Stack entries left, by `oparg`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pushed: Option<Expression>,
    /// The net effect on the stack by `oparg` and `jump`, where a release gives no more (before 3.12).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub effect: Option<Expression>,
}
