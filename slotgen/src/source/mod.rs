//! Opens a CPython source tree: which release it is, which C files it has, and what they hold.
//!
//! In: a directory or an archive. Out: `Tree`, its `Release`, its files and their digests. It does not know C.

mod error;
mod file;
mod pins;
mod release;
mod tree;
mod units;

pub use error::SourceError;
pub use file::SourceFile;
pub(crate) use file::{hex, sha256};
pub use pins::{Pin, built, on_demand, pin, pins};
pub use release::Release;
pub use tree::Tree;
