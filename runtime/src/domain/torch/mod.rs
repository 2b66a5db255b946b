//! The domain of PyTorch.
//!
//! In: operations on tensors. Out: what running them on the `meta` device gives: the metadata of the result, never contents.
//! It must not know the tracer.
mod ambient;
mod calls;
mod change;
mod classes;
mod device_modes;
mod empty_like;
mod fakes;
mod function_calls;
mod function_modes;
mod functions;
mod graph_break;
mod guards;
mod history;
mod library;
mod members;
mod meta;
mod metadata;
mod modes;
mod operands;
mod outputs;
mod overloads;
mod overrides;
mod place;
mod questions;
mod quiet;
mod rule_answers;
mod ruled;
mod rules;
mod shapes;
mod site;
mod sketch;
mod stand_ins;
mod symbols;
mod undo;

pub use calls::new;
pub use library::Torch;
pub use rule_answers::{ShapeRules, SymbolicAnswer};
