//! Code objects as editable instructions: decode, edit, split at any instruction, assemble.
mod assemble;
mod code;
mod decode;
mod depth;
mod display;
mod edit;
mod editor;
mod error;
mod exception_table;
pub mod flag;
mod flow;
mod instr;
mod isa;
mod line_table;
mod object;
#[cfg(slotrt_hooks)]
mod prune;
pub mod python;
pub mod shape;
#[cfg(slotrt_hooks)]
pub mod split;

pub use assemble::Assembled;
pub use code::{Code, Local, LocalKind};
pub use decode::Bytes;
pub use depth::Depths;
pub use error::{Error, Problem};
pub use generated::opcodes::{Op, OpFlags};
pub use instr::{Handler, Instr, Label, Position};
pub use isa::Isa;
pub use object::name_shift;
