//! Guards: conditions under which compiled code is right, and the programs that check them.
//!
//! In: conditions on values at sources. Out: a flat program that checks them, and a residual one while a watch holds.
//! It must not know how a trace came about.
mod aspect;
mod class_member;
mod class_state;
mod condition;
mod contents;
mod function_shape;
mod function_state;
mod homes;
mod load;
mod names_read;
mod number_condition;
mod program;
mod selection;
pub mod source;
mod state;
mod step;
mod stored;
mod stored_paths;
mod test;
pub(crate) mod unobserved;
mod values;
mod watched;

pub use class_state::{is_number, is_number_class, tells_numbers};
pub use condition::{Check, DomainCheck, Guard, Reason};
pub use contents::all_different::AllDifferent;
pub use contents::bound_method::BoundMethod;
pub use contents::bytes_content::{BytesContent, ShownPart};
pub use contents::dead_reference::DeadReference;
pub use contents::deque_limit::DequeLimit;
pub use contents::empty_slot::EmptySlot;
pub use contents::has_item::HasItem;
pub use contents::hashed_by_c::HashedByC;
pub use contents::iterators_apart::IteratorApart;
pub use contents::kept_under_hash::KeptUnderHash;
pub use contents::key_hashes::{KeyHashes, NotEmpty, SetShape};
pub use contents::key_order::KeyOrder;
pub use contents::no_attributes::NoAttributes;
pub use contents::null_member::NullMember;
pub use contents::same_value::SameValue;
pub use contents::tuple_hash::TupleHash;
pub use contents::whole_answer::{Answer, WholeAnswer};
pub use load::Registers;
pub use names_read::NamesRead;
pub use number_condition::{NumberCondition, number};
pub use program::{GuardFailure, Program};
pub use selection::Selection;
pub use state::check_of;
pub use stored::Checks;
pub use watched::residual::{ChangeCounts, GuardMode, Residual, Stop};
