//! The modes of the thread, which change what PyTorch does.
//!
//! In: the state of the thread. Out: what it was, and whether it is so again. It must not know how operations become nodes.
pub(super) mod ambient;
pub(super) mod below;
mod duals;
pub(super) mod function_modes;
pub(super) mod kept_modes;
pub(super) mod locks;
pub(super) mod modes;
pub(super) mod repeated_warnings;
