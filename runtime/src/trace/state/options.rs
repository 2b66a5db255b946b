//! How far a trace may go, and why there may be no outcome.
use super::caches::FunctionCaches;
use super::numbers::ChangingSources;
use std::sync::Arc;

/// How far a trace may go.
#[derive(Clone, Debug)]
pub struct Options {
    /// Bytecode instructions, inlined frames included, before a trace gives up.
    pub max_steps: u64,
    /// Python calls inlined into each other.
    pub max_depth: usize,
    /// Whether the trace may be specialised for a state that changes from call to call, as that of a random generator does.
    pub passing_states: bool,
    /// Whether the trace may go on with numbers drawn at random, on which its guards may depend.
    pub may_draw: bool,
    /// A step of the outermost frame, or of one entered by its calls, before which every trace ends, though nothing in the program asks for it: shows that any place will do.
    pub stop_at: Option<u64>,
    /// Whether a graph break is an error, wherever the trace would have to end because of it.
    pub fullgraph: bool,
    /// Whether the frame may run as it is, this once, where a part of the program gets ready in it.
    pub may_wait: bool,
    /// Whether a backend gets the graphs: it may compile them for inputs that lie in memory as the first ones do.
    pub backend: bool,
    /// Which numbers from outside are symbolic.
    pub changing: Arc<ChangingSources>,
    /// What earlier traces of the function made.
    pub function_caches: Arc<FunctionCaches>,
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
            may_draw: true,
            stop_at: None,
            fullgraph: false,
            may_wait: false,
            backend: false,
            changing: Arc::default(),
            function_caches: Arc::default(),
        }
    }
}

/// Why there is no outcome: the frame runs as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// The frame is none for the tracer; the reason.
    #[error("{0}")]
    Fallback(String),
    /// The frame is to run as it is this once: then it can be traced.
    #[error("the frame runs once before it is traced")]
    Later,
    /// The tracer is wrong.
    #[error("internal error: {0}")]
    Internal(String),
}
