//! Frames: fresh ones, frame objects of tracebacks, and frame objects that outlive a transfer.
//!
//! In: what the interpreter gives an evaluation hook, and frame objects. Out: their parts, typed; variables copied among them.
//! It must not know compiled callables or the hook.
pub mod delegation;
pub mod eval_breaker;
pub mod frame;
pub(super) mod generator_survivors;
#[cfg(slotrt_traces)]
pub mod observers;
pub mod program_frames;
pub mod surviving_frames;
mod survivors;
mod suspended;
pub mod traceback;
pub(crate) mod units;
mod variables;
