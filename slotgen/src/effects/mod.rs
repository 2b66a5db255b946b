//! What each C function does: pure, reads, mutates, runs Python code, raises, …, by a fixpoint over the call graph.
//!
//! In: the files of a tree, facts, and the reviewed table `data/effects.toml` of functions without a body at hand.
//! Out: the effects of each function with their evidence: an effect is there if some statement, or a function that is
//! called, has it. Whatever is in neither makes its callers *unknown*. It does not know what effects are used for.

mod analyse;
mod analysis;
mod apply;
mod calls;
mod evidence;
mod leaves;
mod macros;
mod member_functions;
mod memory;
mod methods;
mod origin;
mod program;
mod publish;
mod solve;
mod state;
mod summary;
mod tally;
#[cfg(test)]
mod tests;
mod value;
mod walk;

pub use crate::facts::{FunctionEffects, ModuleFunction};
pub use analyse::analyse;
pub use analysis::Analysis;
pub use evidence::Link;
pub use leaves::{LeafError, Leaves};
pub use origin::Origin;
pub use program::{Program, Unit};
pub use publish::{publish, row};
pub use summary::{Flags, Summary};
pub use tally::Tally;
pub use walk::{Known, Step};
