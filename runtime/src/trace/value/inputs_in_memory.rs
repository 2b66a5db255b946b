//! What a graph gets that has memory: where two of them may share it, guards look at all of them together.
use crate::graph::NodeId;
use crate::guard::source::Source;
use crate::trace::state::tracer::Tracer;
use pyo3::prelude::*;
use rustc_hash::FxHashSet;

/// The inputs of a graph that have memory.
pub(crate) struct InputsInMemory<'py> {
    pub(crate) objects: Vec<Bound<'py, PyAny>>,
    /// How each is reached.
    pub(crate) sources: Vec<Source>,
    /// Whether it is one of those that were asked for.
    pub(crate) are_marked: Vec<bool>,
}

impl<'py> Tracer<'py> {
    /// The inputs that have memory, those marked that the graph has changed so far.
    pub(crate) fn inputs_by_change(&self) -> InputsInMemory<'py> {
        let changes = self.state.changed_by_graph.iter();
        let behind: FxHashSet<_> = changes.flat_map(|change| self.inputs_behind(change.operand)).collect();
        self.inputs_in_memory(|node| behind.contains(&node))
    }

    pub(crate) fn inputs_in_memory(&self, is_marked: impl Fn(NodeId) -> bool) -> InputsInMemory<'py> {
        let mut inputs = InputsInMemory { objects: Vec::new(), sources: Vec::new(), are_marked: Vec::new() };
        for (node, value) in self.state.inputs.iter() {
            let object = self.real(*value).filter(|object| self.has_memory(object));
            if let (Some(object), Some(source)) = (object, self.source(*value)) {
                inputs.objects.push(object);
                inputs.sources.push(source);
                inputs.are_marked.push(is_marked(*node));
            }
        }
        inputs
    }
}
