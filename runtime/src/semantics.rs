//! The generated object model of the interpreter's release.
//!
//! Where there is no Rust of a release, the next one's bodies and tables stand in for it (3.13's for 3.12), but for those that are known
//! to do otherwise. `build.rs` finds out which.
include!(concat!(env!("OUT_DIR"), "/bodies.rs"));

use generated::capi::FunctionId;

/// Functions of another release that do not stand in for this one's, and what they do otherwise: a trace that enters one ends before.
/// `cargo xtask prove semantics` finds them.
pub const NO_STAND_IN: &[(FunctionId, &str)] = if cfg!(all(Py_3_12, not(Py_3_13))) {
    &[
        (FunctionId::bool_invert, "3.13 words the warning otherwise"),
        (FunctionId::namespace_init, "3.13 takes a mapping, too"),
        (FunctionId::PyComplex_ImagAsDouble, "3.13 asks what is no complex number for a float"),
        (FunctionId::PyComplex_RealAsDouble, "3.13 asks what is no float for a complex number"),
        (FunctionId::property_descr_set, "3.13 names the property"),
        (FunctionId::super_init, "3.13 names the types"),
        (FunctionId::type_mro, "3.13 breaks the line elsewhere"),
        (FunctionId::mro_implementation, "3.13 breaks the line elsewhere"),
    ]
} else {
    &[]
};

/// What a function does otherwise in this release.
#[must_use]
pub fn differs(function: FunctionId) -> Option<&'static str> {
    NO_STAND_IN.iter().find(|row| row.0 == function).map(|row| row.1)
}
