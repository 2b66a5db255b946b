//! What an attempt at a trace knows from those before it, where it must end, and how it ended.
use crate::bytecode::Code;
use crate::domain::Domain;
use crate::graph_break::ASKED_TO_STOP;
use crate::guard::source::Source;
use crate::trace::state::caches::{Place, SharedCaches};
use crate::trace::state::numbers::FixedNumbers;
use crate::trace::state::outcome::{Break, Outcome};
use pyo3::prelude::*;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Where the trace must end, and why.
pub(super) struct Limit {
    pub(super) step: u64,
    pub(super) reason: Break,
    /// Code objects of the inlined frames that the break lay under.
    pub(super) inside: Vec<Py<PyAny>>,
}

impl Limit {
    /// A limit that nothing in the program asks for.
    pub(super) fn asked_for(step: u64) -> Self {
        let reason = Break {
            kind: ASKED_TO_STOP.into(),
            context: format!("step {step}"),
            explanation: "every trace of this session ends after so many instructions".into(),
            hints: Vec::new(),
        };
        Self { step, reason, inside: Vec::new() }
    }
}

/// What is traced.
pub(super) struct Subject<'a, 'py> {
    pub(super) function: &'a Bound<'py, PyAny>,
    pub(super) code: Arc<Code>,
    pub(super) locals: &'a [Option<Py<PyAny>>],
}

/// What an attempt knows from those before it.
#[derive(Default)]
pub(super) struct Plan {
    pub(super) domains: Vec<Arc<dyn Domain>>,
    pub(super) shared_caches: Arc<SharedCaches>,
    pub(super) limit: Option<Limit>,
    /// Signals that arrived meanwhile.
    pub(super) signals: Vec<i32>,
    /// Keep account of what frames hold.
    pub(super) track: bool,
    /// Paths that must share a value where they lead to one object.
    pub(super) merged: FxHashSet<Source>,
    /// How often such paths were found.
    pub(super) merges: usize,
    /// Sources whose numbers must be known.
    pub(super) fixed: FixedNumbers,
    /// Whether all numbers must be.
    pub(super) all_known: bool,
    /// How many operations leave open what contents decide; `None`: all.
    pub(super) left_open: Option<usize>,
    /// Whether calls that give leaves their gradients run natively.
    pub(super) native_backward: bool,
    /// Instructions that attempts executed so far.
    pub(super) executed: u64,
    /// Attempts that ended with a value that cannot leave the trace.
    pub(super) escapes: u32,
    /// The instruction that made the last one.
    pub(super) escaped_at: Option<Place>,
    /// Where the last attempt went back to.
    #[cfg(debug_assertions)]
    pub(super) went_back: Option<Limit>,
}

/// How one attempt ended.
pub(super) enum Attempt {
    Done(Box<Outcome>),
    ReplayedCall(Limit),
    /// The trace must keep account of what frames hold.
    Track,
    /// These paths must share a value where they lead to one object.
    Merge(Vec<Source>),
    /// The numbers at these sources must be known.
    Specialise(FixedNumbers),
    /// What the trace took for known is read where it is.
    Reread,
    /// No more operations may leave open what contents decide: the trace would end further in, and again behind it.
    Close(usize),
    /// Calls that give leaves their gradients must run natively: what comes after them would break, and perhaps further in.
    LeaveBackward,
}
