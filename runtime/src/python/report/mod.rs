//! What `slotrt.explain` shows: traces, guards and values in words and numbers, without objects of the program.
pub(super) mod describe;
pub(super) mod record;
