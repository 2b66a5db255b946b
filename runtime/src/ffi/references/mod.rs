//! References: what an object refers to, and references that keep nothing alive.
//!
//! In: live objects. Out: what they lead to, and whether something is still there.
//! It must not know what the objects are for.
pub mod codec_tables;
pub mod garbage;
pub mod held;
pub mod referents;
pub mod weak_references;
