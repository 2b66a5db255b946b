//! Code objects as editable instructions.
//!
//! In: bytes and tables of a code object. Out: instructions with resolved jumps, depths and states before each, and bytes again.
//! It must not know memory of the interpreter (`ffi::code` reads and makes the code objects), values or graphs.
mod assemble;
mod code;
mod decode;
mod depth;
mod display;
mod edit;
mod error;
mod exception;
mod exception_table;
pub mod flag;
mod flow;
mod instr;
mod isa;
mod line_table;
#[cfg(slotrt_hooks)]
mod prune;
pub mod shape;

pub use assemble::Assembled;
pub use code::{Code, Local, LocalKind};
pub use decode::{Bytes, check_instructions, decode};
pub use depth::Depths;
pub(crate) use edit::fused;
pub use error::{Error, Problem};
pub(crate) use exception::Error as Exception;
pub use generated::opcodes::{Op, OpFlags};
pub use instr::{Handler, Instr, Label, Position, STOPITERATION_ERROR};
pub use isa::Isa;
