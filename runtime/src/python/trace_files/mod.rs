//! `slotrt.save` and `slotrt.load`: traces for another process.
pub(super) mod load;
mod own_objects;
pub(super) mod save;
