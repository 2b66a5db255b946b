//! Calls that PyTorch hands to code of Python: to the `__torch_function__` or the `__torch_dispatch__` of a class, and to modes.
//!
//! In: a call, and what stands for its arguments. Out: what PyTorch hands over to whom.
//! Must not know: what the functions do that are called.
pub(super) mod classes;
pub(super) mod dispatched;
mod modes;
