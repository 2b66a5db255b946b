//! Guards: conditions under which compiled code is right, and the programs that check them.
//!
//! In: conditions on values at sources. Out: a flat program that checks them, and a residual one while a watch holds.
//! It must not know how a trace came about.
mod aspect;
mod bytes_content;
mod caller_object;
mod class_state;
mod condition;
mod dead_reference;
mod deque_shape;
mod empty_slot;
mod function_shape;
mod has_item;
mod hashed_by_c;
mod instances;
mod iterators_apart;
mod key_order;
mod load;
mod number_condition;
mod pins;
mod plan;
mod program;
mod residual;
mod selection;
pub mod source;
mod state;
mod step;
mod stored;
mod test;
mod values;
mod whole_answer;

pub use bytes_content::{BytesContent, ShownPart};
pub use condition::{Check, DomainCheck, Guard, Reason};
pub use dead_reference::DeadReference;
pub use deque_shape::DequeShape;
pub use empty_slot::EmptySlot;
pub use has_item::HasItem;
pub use hashed_by_c::HashedByC;
pub use iterators_apart::IteratorApart;
pub use key_order::KeyOrder;
pub use load::Registers;
pub use number_condition::{NumberCondition, number};
pub use program::{GuardFailure, Program};
pub use residual::{ChangeCounts, GuardMode, Residual, Stop};
pub use selection::Selection;
pub use state::check_of;
pub use stored::Checks;
pub use whole_answer::{Answer, WholeAnswer};
