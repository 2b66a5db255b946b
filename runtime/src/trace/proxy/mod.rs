//! Real C code on symbolic values: proxies stand for values, proxy classes for their classes, private objects for containers.
//!
//! In: values. Out: objects that C can work on, and values for what C has made of them.
//! Must not know: which C function runs, or why it may.
pub(crate) mod buffer_copies;
pub(crate) mod class_protocols;
pub(crate) mod classes;
pub(crate) mod container_copies;
pub(crate) mod convert;
pub(crate) mod hashed_copies;
pub(crate) mod objects;
pub(crate) mod private_copies;
pub(crate) mod reentry;
pub(crate) mod run;
pub(crate) mod special_calls;
pub(crate) mod special_methods;
