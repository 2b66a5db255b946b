//! The facts of a release as plain data: what the sources say, nothing derived.

mod expression;
mod opcodes;

pub use expression::{Expression, ExpressionError, integer};
pub use opcodes::{Opcode, OpcodeKind, Opcodes};
