//! The generated object model of the interpreter's release.
//!
//! There are no C sources of 3.12 at hand: 3.13's bodies and tables stand in for it.
#[cfg(not(Py_3_12))]
pub use generated::v3_11::*;
#[cfg(Py_3_12)]
pub use generated::v3_13::*;
