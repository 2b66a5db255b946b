//! What operations do besides giving something new, and how that is taken back where a graph raises.
pub(super) mod effects;
mod indices;
mod kernels;
pub(super) mod saved;
mod sure;
