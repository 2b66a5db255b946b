//! Renders translations as Rust files.
//!
//! In: translations of the releases. Out: a file per C file, the dispatcher, and the vocabulary trait that all releases share.
//! It changes no body and does not know how one came about.

mod calls;
mod capi;
mod defaults;
mod dispatch;
mod files;
mod fitting;
mod members;
mod release;
mod rendered;
mod unparse;

pub use capi::capi;
pub use files::rendered;
pub use fitting::translate;
pub use release::{Output, release};
pub use rendered::{Arm, Dispatcher, Function, Head, Rendered, Unit};
