//! Runs bytecode symbolically with the generated code as its object model.
mod asked;
mod attr;
mod attr_error;
pub mod audit;
mod binary;
mod c_attr;
mod c_value;
pub mod call;
pub mod capi;
mod class_asked;
mod compared;
mod copied;
mod decimals;
mod driver;
mod entered;
mod exists;
mod finish;
pub mod frame;
mod frame_locals;
mod generator;
mod hashed;
mod ids;
pub mod interrupted;
mod iterators;
mod known;
mod lasting;
mod marks;
mod merged;
mod mirror;
mod modes;
mod module_attr;
mod mortal;
mod namespace;
mod nan;
mod native;
pub mod observed;
mod operator;
mod ops;
pub mod order;
pub mod outcome;
mod protocol;
mod raised;
mod rebuild;
mod record;
mod registered;
mod release;
mod rewind;
mod said;
mod set_attr;
mod shadows;
pub mod signal;
pub mod state;
mod super_object;
pub mod token;
mod traceback;
mod type_attr;
pub mod value;
mod warned;
mod weak;

use std::sync::Arc;

pub use driver::trace;
pub use lasting::{Kept, Lasting};

/// How far a trace may go.
#[derive(Clone, Debug)]
pub struct Options {
    /// Bytecode instructions, inlined frames included, before a trace gives up.
    pub max_steps: u64,
    /// Python calls inlined into each other.
    pub max_depth: usize,
    /// Whether the trace may be specialised for a state that changes from call to call, as that of a random generator does.
    pub passing_states: bool,
    /// A step of the outermost frame, or of one entered by its calls, before which every trace ends, though nothing in the program asks for it: shows that any place will do.
    pub stop_at: Option<u64>,
    /// Whether a graph break is an error, wherever the trace would have to end because of it.
    pub fullgraph: bool,
    /// What earlier traces of the function made.
    pub kept: Arc<Kept>,
}

impl Options {
    /// A frame that must be one graph has no other way to run: its trace may take longer.
    #[must_use]
    pub fn of(fullgraph: bool) -> Self {
        let max_steps = if fullgraph { 2_000_000 } else { 200_000 };
        Self { max_steps, fullgraph, ..Self::default() }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_steps: 200_000,
            max_depth: 60,
            passing_states: true,
            stop_at: None,
            fullgraph: false,
            kept: Arc::default(),
        }
    }
}

/// Why there is no outcome: the frame runs as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// The frame is none for the tracer; the reason.
    #[error("{0}")]
    Fallback(String),
    /// The tracer is wrong.
    #[error("internal error: {0}")]
    Internal(String),
}
