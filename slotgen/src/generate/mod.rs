//! The driver: lists the stages in the order of the data flow.
//!
//! In: source trees, or headers of an installation. Out: what changes in the folder `generated`.

mod committed;
mod error;
mod instructions;
mod mixed;
mod others;
mod releases;
mod sources;

pub use committed::{committed, elsewhere};
pub use error::GenerateError;
pub use others::{generate_binary, generate_installed};
pub use releases::{Read, Report, generate};
pub use sources::facts_of;
