//! Why an operation gave no value: an exception, a graph break, or the end of the trace.
use crate::ffi::types::c_name;
use crate::trace::state::options::Stop;
use crate::trace::state::outcome::Break;
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;

/// Why an operation gave no value. Only [`Signal::Raised`] is a Python exception.
#[derive(Clone, Debug)]
pub enum Unwind {
    /// Python raises this exception value.
    Raised(ValueId),
    /// The instruction must run natively.
    Break(Box<Break>),
    /// The instruction must run natively, and the trace is where it was before it, in a frame where it can stop.
    Here(Box<Break>),
    /// The trace arrived at the step where it was told to stop.
    Stopped,
    /// The trace must be made again, with an eye on what frames hold.
    Track,
    /// The trace must be made again, with some numbers known that are symbolic in this one.
    Specialise,
    /// The trace must be made again, for it took for known what it has found to be set.
    Reread,
    /// The trace is given up.
    GivenUp(Box<Stop>),
}

impl Unwind {
    /// The tracer is wrong.
    pub(crate) fn internal(what: impl Into<String>) -> Self {
        Self::GivenUp(Box::new(Stop::Internal(what.into())))
    }
}

/// What nearly every function of the tracer gives fits in two registers.
const _: () = assert!(size_of::<Traced<ValueId>>() == 16);

/// Result of a symbolic operation.
pub type Traced<T> = Result<T, Unwind>;

/// What a user may do about a graph break: the closed list.
pub mod hints {
    /// Nothing to do by the user.
    pub const COVERAGE: &str = "this is a limit of the tracer, not of the program";
    /// Input and output.
    pub const MOVE_IO: &str = "move input and output out of the compiled function";
    /// Depends on contents.
    pub const DATA: &str = "avoid control flow and conversions that depend on array contents";
    /// CallArgument for.
    pub const REQUESTED: &str = "remove the call of graph_break()";
    /// Left alone because the program says so.
    pub const DISABLED: &str = "call it outside of compiled code, or take slotrt.disable away";
}

/// A graph break as a signal.
#[cold]
#[inline(never)]
pub fn stop<T>(kind: &str, context: impl Into<String>, explanation: impl Into<String>, hint: &str) -> Traced<T> {
    Err(Unwind::Break(Box::new(Break {
        kind: kind.into(),
        context: context.into(),
        explanation: explanation.into(),
        hints: vec![hint.into()],
    })))
}

/// A graph break because the tracer does not know better.
#[cold]
#[inline(never)]
pub fn unsupported<T>(kind: &str, context: impl Into<String>) -> Traced<T> {
    stop(kind, context, "the tracer has no model of this operation; it runs natively", hints::COVERAGE)
}

/// A graph break because another thread changes what the trace reads.
#[cold]
#[inline(never)]
pub fn changed_meanwhile<T>(container: &Bound<'_, PyAny>) -> Traced<T> {
    unsupported("container that another thread changes while it is traced", c_name(&container.get_type()).into_owned())
}

/// Our own fault.
#[cold]
#[inline(never)]
pub fn internal<T>(what: impl Into<String>) -> Traced<T> {
    Err(Unwind::internal(what))
}

/// The frame is none for the tracer.
#[cold]
#[inline(never)]
pub fn fallback<T>(why: impl Into<String>) -> Traced<T> {
    Err(Unwind::GivenUp(Box::new(Stop::Fallback(why.into()))))
}
