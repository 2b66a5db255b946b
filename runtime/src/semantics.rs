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
} else if cfg!(all(Py_3_14, not(Py_3_15))) {
    &[
        (FunctionId::PyDict_GetItem, "3.14 names the class of what is no key"),
        (FunctionId::PyDict_MergeFromSeq2, "3.14 leaves the iterable's own error, with a note"),
        (FunctionId::PyDict_Pop, "3.14 names the class of what is no key"),
        (FunctionId::PySet_Add, "3.14 names the class of what is no item"),
        (FunctionId::PySet_Contains, "3.14 names the class of what is no item"),
        (FunctionId::PySet_Discard, "3.14 names the class of what is no item"),
        (FunctionId::PyUnicode_AsDecodedObject, "3.14 words the warning otherwise"),
        (FunctionId::PyUnicode_AsDecodedUnicode, "3.14 words the warning otherwise"),
        (FunctionId::PyUnicode_AsEncodedObject, "3.14 words the warning otherwise"),
        (FunctionId::PyUnicode_AsEncodedUnicode, "3.14 words the warning otherwise"),
        (FunctionId::_PySequence_IterSearch, "3.14 words the error otherwise"),
        (FunctionId::_PySet_Contains, "3.14 names the class of what is no item"),
        (FunctionId::dict_ior, "3.14 leaves the iterable's own error, with a note"),
        (FunctionId::dict_subscript, "3.14 names the class of what is no key"),
        (FunctionId::float_div, "3.14 words the error otherwise"),
        (FunctionId::float_floor_div, "3.14 words the error otherwise"),
        (FunctionId::long_div, "3.14 words the error otherwise"),
        (FunctionId::long_divmod, "3.14 words the error otherwise"),
        (FunctionId::notimplemented_bool, "3.14 refuses"),
    ]
} else {
    &[]
};

/// What a function does otherwise in this release.
#[must_use]
pub fn differs(function: FunctionId) -> Option<&'static str> {
    NO_STAND_IN.iter().find(|row| row.0 == function).map(|row| row.1)
}
