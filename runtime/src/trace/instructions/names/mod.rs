//! Instructions that read, bind and delete names: of a frame, its cells, a module, and what is imported.
//!
//! In: a name and a frame. Out: its value, bound or taken away.
//! Must not know: what is done with the value.
pub(crate) mod globals;
pub(crate) mod imports;
pub(crate) mod locals;
