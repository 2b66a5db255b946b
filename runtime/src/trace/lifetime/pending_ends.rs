//! Cycles that the program has dropped before a trace: code of the program may run when a collection within the trace ends them.
use crate::ffi::{garbage, types};
use crate::guard::Check;
use crate::guard::source::Source;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, internal, unsupported};
use crate::trace::state::value::{New, Value};
use crate::trace::value::finalisable::is_finalisable;
use pyo3::prelude::*;

/// Whether a collection would run no code of the program now. Called by guards, with any object.
///
/// # Errors
/// What `gc.get_objects()` raises.
#[pyfunction]
pub(crate) fn collects_silently(any: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(garbage::pending(any.py(), is_finalisable)?.is_none())
}

impl<'py> Tracer<'py> {
    /// A graph break where a collection would run code of the program, which the trace knows nothing of; else a guard that it would not.
    pub(crate) fn rely_on_silent_collection(&mut self) -> Traced<()> {
        let none = self.py.None().into_bound(self.py);
        if !self.state.track && self.finalisable_argument(false).is_some() {
            return Err(Unwind::Track);
        }
        // What the frame has let go, callers and the trace still hold.
        let dropped = if self.state.track { self.finalisable_argument(true) } else { None };
        let pending = garbage::pending(self.py, is_finalisable).or_else(|error| internal(error.to_string()))?;
        if let Some(pending) = dropped.or(pending) {
            return unsupported("collection that ends an object whose end runs code", types::name(&pending.get_type()));
        }
        let check = pyo3::wrap_pyfunction!(collects_silently, self.py).or_else(|error| internal(error.to_string()))?;
        let check = Check::Call(check.into_any().unbind());
        self.guard(
            Source::constant(&none),
            check,
            "the trace asked for a collection, which runs no code of the program",
        );
        Ok(())
    }

    /// Whether the trace has made objects that only the collector may end: it does not make those that it drops.
    pub(crate) fn has_made_cyclic(&self) -> bool {
        self.state.values.iter().any(|value| {
            let Value::New(made) = value else { return false };
            !matches!(
                made,
                New::Tuple(_)
                    | New::Slice(_)
                    | New::Method { .. }
                    | New::Computed(_)
                    | New::Opaque(_)
                    | New::SequenceIterator { .. }
            )
        })
    }
}
