//! Domains: plug-ins, one per array library, that say which operations become nodes of the graph.
//!
//! In: an operation on values of the library. Out: a node, a constant, a change in place, an exception, or a graph break.
//! It must not know bytecode or the tracer.
mod dispatching;
mod domains;
mod gradient;
mod held_numbers;
mod higher_order;
mod interface;
mod later_calls;
mod node_effects;
pub mod numpy;
mod operation;
mod own_functions;
mod range;
mod recorded;
mod sizes;
mod taking_modes;
pub mod torch;
mod undoing;
mod unheard;
mod unread;

pub use dispatching::{Dispatching, PlainCall, STANDS_FOR};
pub use domains::Domains;
pub use gradient::{Gradient, Gradients, HistoryUse, PlainForward};
pub use held_numbers::{Choice, HeldNumber, HeldNumbers, ToldByCheck};
pub use higher_order::{Formal, GraphCall, HigherOrder};
pub use interface::{Domain, GlobalStateGuard, LayoutQuestion, Rehearsal};
pub use later_calls::{LaterCall, LaterCalls};
pub use node_effects::{CallEffects, NodeEffects, SavedParts, SavedState};
pub use operation::{
    Answer, AnsweredOperation, Call, CallWithNames, Callee, Gives, HandedOver, ModeChange, NumberUse, Operand,
    ScalarPlace,
};
pub use own_functions::OwnFunctions;
pub use range::{Range, RangeRule};
pub use recorded::{GraphOfSizes, Recorded, SizedCall, SizedNode};
pub use sizes::SizeMark;
pub use taking_modes::{ModeStep, TakingModes};
pub use undoing::Undoing;
pub use unheard::{is_unheard, unheard};
pub use unread::{Unread, class_of_unread, description_of_unread, is_unread, unread, unread_lists};
