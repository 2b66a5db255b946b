//! What a trace has in the place of tensors: their metadata, where they are, and tensors of PyTorch's without contents.
//!
//! In: metadata, and what PyTorch is asked. Out: examples of tensors. It must not know which operation is recorded.
pub(super) mod array_scalars;
pub(super) mod empty_like;
pub(super) mod fakes;
pub(super) mod history;
pub(super) mod layout;
pub(super) mod open;
pub(super) mod place;
pub(super) mod placed;
pub(super) mod rules;
pub(super) mod site;
pub(super) mod sketch;
pub(super) mod unheard;
