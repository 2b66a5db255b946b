//! The facts of a release as plain data: what the sources say; only `slots` also holds what the model inherits.
//!
//! In: rows that `extract`, `binary` and `effects` state. Out: `Facts` and its published JSON.
//! It does not know how facts are found or what they are for.

mod effects;
mod expression;
mod functions;
mod installed;
mod json;
mod opcodes;
mod release;
mod types;

pub use effects::{FunctionEffects, ModuleFunction};
pub use expression::{Expression, ExpressionError, integer};
pub use functions::{Function, FunctionType, Macro, Parameter, Prototype, Signature};
pub use installed::Installed;
pub use opcodes::{Opcode, OpcodeKind, Opcodes};
pub use release::{Facts, Gap, Origin, nearest};
pub use types::{
    Field, GetSet, Member, Method, SLOT_STRUCTS, Slot, SlotOrigin, SlotValue, Slotdef, Struct, Type, TypeKind,
    UNNAMED_FIELD, slots, text_signature,
};
