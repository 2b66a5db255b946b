//! Guards on tensors: what they are, where they lie in memory, what they are views of; and how guards are kept for another process.
pub(super) mod choice;
pub(super) mod kin;
pub(super) mod memory;
pub(super) mod storages;
mod stored;
pub(super) mod tensor;
