//! Renders tables and code, and replaces `generated/` as a whole or not at all.
//!
//! In: facts of the releases, and an askama template a file. Out: `File`s, and the folder that holds them all.
//! It knows no clock, no absolute path, and no order of hashing.

mod effects;
mod file;
mod layouts;
mod opcodes;
mod rust;
mod slots;
mod text;
mod writer;

pub use effects::{MEMORY, effect_rows};
pub use file::{File, Header, MARK, RenderError};
pub use layouts::layouts;
pub use opcodes::{op, release_opcodes};
pub use slots::{SlotMismatch, TableError, release_slotdefs, release_slots, slots, type_rows};
pub use text::filled;
pub use writer::{Change, Mode, WriteError, write};
