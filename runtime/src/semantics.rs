//! The generated object model of the interpreter's release.
//!
//! Where there is no Rust of a release, the next one's bodies and tables stand in for it (3.13's for 3.12), but for those that are known
//! to do otherwise: data, in `stand_in/3.X.txt`. `build.rs` finds out which, and reads them.
include!(concat!(env!("OUT_DIR"), "/bodies.rs"));

use generated::capi::FunctionId;

/// What a function does otherwise in this release.
#[must_use]
pub fn differs(function: FunctionId) -> Option<&'static str> {
    NO_STAND_IN.iter().find(|row| row.0 == function).map(|row| row.1)
}

/// Why a body of another release that asks for an identifier does not stand in for this one's.
#[must_use]
pub fn asks_otherwise(identifier: &str) -> Option<&'static str> {
    NO_IDENTIFIER.iter().find(|row| row.0 == identifier).map(|row| row.1)
}
