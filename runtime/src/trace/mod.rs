//! Runs bytecode symbolically with the generated code as its object model.
//!
//! In: a frame. Out: an [`Outcome`](state::outcome::Outcome), from which `emit` makes code.
//! The rooms, from the ground up: `state` (data), `value`, `operator`, `proxy`, `lifetime`, `exception`, `attribute`, `process`,
//! `generator`, `call`, `instructions`, `finish`, `run`. A room names types and functions of the rooms below it only; upwards it calls
//! methods of `Tracer`. Must not know: how code is emitted, cached or entered.
mod attribute;
mod call;
mod exception;
mod finish;
mod generator;
mod instructions;
mod lifetime;
mod number;
mod operator;
mod process;
mod proxy;
mod release;
mod run;
pub mod state;
mod value;

pub use call::models::models;
pub use lifetime::finalisers::check_of;
pub use process::os_signals;
pub use run::driver::trace;
pub use run::frame_readers::names_frames;
pub use run::own_objects::{read_own, write_own};
pub use state::caches::{FunctionCaches, SharedCaches};
pub use state::options::{Options, Stop};
