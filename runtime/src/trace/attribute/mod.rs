//! Attributes of instances, classes, modules and `super` objects, read and stored, under the names of the C functions.
//!
//! In: a value and a name. Out: a value, a side effect, or CPython's exception.
//! Must not know: which instruction asks. CPython: `Objects/object.c`, `Objects/typeobject.c`, `Objects/moduleobject.c`.
mod bases;
pub(crate) mod bind;
pub(crate) mod c_types;
pub(crate) mod class_bases;
mod class_numbers;
pub(crate) mod classes;
pub(crate) mod descriptors;
pub(crate) mod errors;
mod graph_values;
pub(crate) mod lookup;
pub(crate) mod modules;
pub(crate) mod namespaces;
pub(crate) mod stores;
pub(crate) mod super_lookup;
pub(crate) mod super_objects;
pub(crate) mod thread_locals;
