//! Numbers and sizes of tensors that differ from call to call: where they may stand, what operations make of them, how they are guarded.
pub(super) mod asked;
mod in_graph;
pub(super) mod marks;
pub(super) mod open_sizes;
mod scalar_tensors;
pub(super) mod sizes;
