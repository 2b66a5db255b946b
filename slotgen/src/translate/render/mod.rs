//! Renders translations as Rust files.
//!
//! In: translations of the releases. Out: a file per C file, the dispatcher, and the vocabulary trait that all releases share.
//! It changes no body and does not know how one came about.

mod calls;
mod capi;
mod defaults;
mod files;
mod members;
mod unparse;

pub use capi::capi;
pub use files::{Output, files, release_files};
