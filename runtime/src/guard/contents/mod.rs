//! Conditions on what containers, slots and references hold.
//!
//! In: what the trace has seen of them. Out: checks that no code of the program runs for. It must not know sources, nor how guards are run.
pub(super) mod all_different;
pub(super) mod bound_method;
pub(super) mod bytes_content;
pub(super) mod dead_reference;
pub(super) mod deque_limit;
pub(super) mod empty_slot;
pub(super) mod has_item;
pub(super) mod hashed_by_c;
pub(super) mod iterators_apart;
pub(super) mod kept_under_hash;
pub(super) mod key_hashes;
pub(super) mod key_order;
pub(super) mod no_attributes;
pub(super) mod null_member;
pub(super) mod same_value;
pub(super) mod tuple_hash;
pub(super) mod whole_answer;
