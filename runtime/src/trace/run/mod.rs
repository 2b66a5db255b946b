//! The life of a trace: it begins at a frame, runs instructions, rolls back or starts again, and ends with an outcome.
//!
//! In: a frame's function, code and variables. Out: [`Outcome`](super::state::outcome::Outcome) or [`Stop`](super::Stop).
//! Must not know: what a single operation means.
mod addresses;
pub(crate) mod driver;
mod escapes;
pub(crate) mod frame;
pub(crate) mod frame_readers;
pub(crate) mod own_objects;
mod plan;
mod process_bound;
pub(crate) mod rollback;
mod seen_orders;
pub(crate) mod stop_points;
#[cfg(debug_assertions)]
mod summary;
