//! The domain of PyTorch.
//!
//! In: operations on tensors. Out: what running them on the `meta` device gives: the metadata of the result, never contents.
//! It must not know the tracer.
mod calls;
mod change;
mod check;
mod compilers;
mod empty_like;
mod fakes;
mod graph_break;
mod library;
mod memory;
mod meta;
mod metadata;
mod modes;
mod natives;
mod overloads;
mod questions;
mod rule_answers;
mod rules;
mod shapes;
mod sketch;

pub use calls::new;
pub use library::Torch;
pub use rule_answers::ShapeRules;
