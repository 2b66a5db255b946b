//! Live types: flags, names, slots, MRO, namespaces, version tags.
//!
//! In: classes. Out: what their C structs hold, classes derived from them, calls of their slot functions.
//! It must not know instances, frames or code objects.
mod derived;
pub mod flag;
mod flags;
mod generic;
mod hierarchy;
mod names;
pub mod sequence_slots;
pub mod slot_call;
mod slots;
mod tuples;

pub use derived::{derived, derived_by};
pub use flags::{flags, get_ready, has, is_c_type, is_heap, is_immutable};
pub use generic::{
    dict_at_hand, generic_dict, generic_get, generic_set, has_attributes, held_dict, keep_in_dict, new_instance, read,
};
pub(super) use hierarchy::lookup_raw;
pub(crate) use hierarchy::namespace;
pub use hierarchy::{
    adds_fields, base, basicsize, dictoffset, has_own_fields, is_subtype, lookup, mro, own, version_tag, weaklistoffset,
};
pub(super) use names::utf8;
pub use names::{c_name, has_names_of, is_c_class, is_called, is_local, is_named, last_name, module, name, text};
pub use slots::{clear_slot, set_slot, slot, slot_pointer, suite};
pub use tuples::tuple_of;
