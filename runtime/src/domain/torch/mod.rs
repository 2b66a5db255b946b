//! The domain of PyTorch.
//!
//! In: operations on tensors. Out: what running them on the `meta` device gives: the metadata of the result, never contents.
//! It must not know the tracer.
mod backends;
mod bases;
mod by_rule;
mod calls;
mod change;
mod claims;
mod classes;
mod contents;
mod exact_numbers;
mod examples;
mod function_calls;
mod functions;
mod generators;
mod gradients;
mod graph_break;
mod guards;
mod itself;
mod library;
mod made;
mod members;
mod meta;
mod metadata;
mod named;
mod numbers;
mod operands;
mod own;
mod quantised;
mod questions;
mod shapes;
mod stand_ins;
mod symbols;
mod taken;
mod thread;
mod undo;

pub use by_rule::answers::{ShapeRules, SymbolicAnswer};
pub use calls::new;
pub use generators::new as new_generators;
pub use library::Torch;
