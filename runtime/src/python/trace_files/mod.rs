//! `slotrt.save` and `slotrt.load`: traces for another process.
mod continuations;
pub(super) mod load;
mod own_objects;
mod read;
pub(super) mod save;
mod write;
