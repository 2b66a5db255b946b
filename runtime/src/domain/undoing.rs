//! What calls do besides giving something new, and how that is taken back.
use super::node_effects::{CallEffects, NodeEffects, SavedParts, SavedState};
use super::operation::Operand;
use pyo3::prelude::*;

/// What calls of a library do besides giving something new.
pub trait Undoing {
    /// What a node does that calls this, besides giving something new.
    fn effects(&self, _target: &Bound<'_, PyAny>) -> NodeEffects {
        NodeEffects::unknown()
    }
    /// Whether there is code for a call that no contents make raise, on operands of these types.
    fn has_kernel<'py>(
        &self,
        _target: &Bound<'py, PyAny>,
        _args: &[Operand<'py>],
        _kwargs: &[(String, Operand<'py>)],
    ) -> bool {
        true
    }
    /// Whether objects of the library have memory of their own, or of each other.
    fn has_memory(&self) -> bool {
        true
    }
    /// Whether [`Undoing::save`] saves what a graph may change of objects from outside.
    fn takes_back_changes(&self) -> bool {
        true
    }
    /// What else a call with these operands does; without them, as far as those do not decide it.
    fn call_effects(&self, _target: &Bound<'_, PyAny>, _args: &[Operand<'_>]) -> CallEffects {
        CallEffects::default()
    }
    /// Saves what these objects hold, generators of random numbers among them, and parts of the state of the library.
    fn save(
        &self,
        _py: Python<'_>,
        _objects: &[Bound<'_, PyAny>],
        _parts: SavedParts,
    ) -> PyResult<Option<Box<dyn SavedState>>> {
        Ok(None)
    }
    /// Saves the gradients that these objects hold, where they are leaves; `contents`: what those hold, too.
    fn save_gradients(
        &self,
        _py: Python<'_>,
        _leaves: &[Bound<'_, PyAny>],
        _contents: bool,
    ) -> PyResult<Option<Box<dyn SavedState>>> {
        Ok(None)
    }
    /// Whether an object that was changed in place remembers what it was computed from, now with the change: that cannot be taken back.
    fn keeps_history(&self, _example: &Bound<'_, PyAny>) -> bool {
        false
    }
    /// Whether operations on an object from outside raise for more than what rules and examples know of it.
    fn is_fragile(&self, _object: &Bound<'_, PyAny>) -> bool {
        false
    }
    /// Whether an object may have several elements at one place in memory.
    fn overlaps_itself(&self, _example: &Bound<'_, PyAny>) -> bool {
        true
    }
    /// Whether this gives what belongs to an object and lies in other memory, as its gradient does.
    fn lies_aside(&self, _target: &Bound<'_, PyAny>) -> bool {
        false
    }
    /// Whether what is made after this sets a mode may be fragile once another mode is set.
    fn makes_fragile(&self, _target: &Bound<'_, PyAny>) -> bool {
        false
    }
    /// A number that is another one once the object was changed in place; `None`: nothing tells.
    fn version(&self, _object: &Bound<'_, PyAny>) -> Option<u64> {
        None
    }
}
