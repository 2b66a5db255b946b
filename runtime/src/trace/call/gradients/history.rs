//! Calls that look at how their operands were computed: the graph so far is run again for them, without contents.
use crate::domain::{Callee, Domain, HistoryUse, Operand, Recorded};
use crate::ffi::{flag, types};
use crate::graph::{ForBackend, NodeId, NodeOp};
use crate::trace::state::arguments::Arguments;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::Traced;
use crate::trace::state::value::{New, Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyInt};
use std::sync::Arc;

/// How integers that contents decide are described.
const INTEGER: &str = "int";

/// Arguments by position, and by keyword.
type Listed = (Vec<ValueId>, Vec<(String, ValueId)>);

impl<'py> Tracer<'py> {
    /// What such a call gives where it gets a dict of values.
    pub(crate) fn call_by_name(
        &mut self,
        domain: &Arc<dyn Domain>,
        callee: &Callee<'py>,
        args: &[ValueId],
        keywords: &[(String, ValueId)],
    ) -> Traced<Option<ValueId>> {
        const INPUTS: usize = 1;
        let named = || keywords.iter().find(|(name, _)| name == "inputs").map(|(_, value)| value);
        let Some(inputs) = args.get(INPUTS).or_else(named) else { return Ok(None) };
        if !self.class_of(*inputs)?.is(self.py.get_type::<PyDict>()) {
            return Ok(None);
        }
        let Some(function) = domain.history_by_name(callee) else { return Ok(None) };
        let function = self.absorb_static(function);
        self.call(function, Arguments { positional: args.to_vec(), keywords: keywords.to_vec(), bound: false })
            .map(Some)
    }

    /// The arguments of such a call. What is gone through is so before the call.
    pub(crate) fn listed(&mut self, args: &[ValueId], keywords: &[(String, ValueId)]) -> Traced<Listed> {
        let positional = args.iter().map(|arg| self.listed_one(*arg)).collect::<Traced<_>>()?;
        let named = keywords.iter().map(|(name, arg)| Ok((name.clone(), self.listed_one(*arg)?)));
        Ok((positional, named.collect::<Traced<_>>()?))
    }

    /// `tuple(value)`, where the library does the same: of what can be gone through, but tuples and lists, mappings and its own values.
    fn listed_one(&mut self, value: ValueId) -> Traced<ValueId> {
        let class = self.class_of(value)?;
        let is_listed = types::has(&class, flag::TUPLE_SUBCLASS | flag::LIST_SUBCLASS);
        if is_listed || self.domain_of(&class).is_some() || self.lookup(&class, "__iter__").is_none() {
            return Ok(value);
        }
        if ["keys", "__torch_function__"].iter().any(|name| self.lookup(&class, name).is_some()) {
            return Ok(value);
        }
        self.call_builtin("tuple", &[value])
    }

    /// Lets what stands for the operands of such a call remember what they were computed from, where that can be told.
    pub(crate) fn recall_history<'a>(
        &mut self,
        domain: &Arc<dyn Domain>,
        uses: HistoryUse,
        operands: impl Iterator<Item = &'a mut Operand<'py>>,
    ) -> Traced<()>
    where
        'py: 'a,
    {
        if uses == HistoryUse::None {
            return Ok(());
        }
        self.state.backward.rehearsed = None;
        // What is to happen to gradients on the way is told after the graph.
        self.refuse_change_after()?;
        let mut operands: Vec<_> = operands.collect();
        for operand in &operands {
            // Inputs become nodes.
            self.argument(operand)?;
        }
        let Some(results) = self.replay(domain, self.state.graph.nodes.len(), false) else { return Ok(()) };
        self.rely_on_unseen_gradients(domain)?;
        operands.iter_mut().try_for_each(|operand| self.replace_examples(operand, &results))?;
        self.state.backward.rehearsed = Some(results.into_iter().map(|made| made.map(Bound::unbind)).collect());
        Ok(())
    }

    /// What the first nodes give, with their history; `by_kernels`: with contents, too.
    pub(super) fn replay(
        &self,
        domain: &Arc<dyn Domain>,
        count: usize,
        by_kernels: bool,
    ) -> Option<Vec<Option<Bound<'py, PyAny>>>> {
        let nodes = self.state.graph.nodes.get(..count)?;
        let targets: Vec<_> =
            nodes.iter().map(|node| node.target.as_ref().map(|target| target.bind(self.py))).collect();
        let mut recorded = Vec::with_capacity(nodes.len());
        for (index, (node, target)) in nodes.iter().zip(&targets).enumerate() {
            let id = NodeId(index as u32);
            recorded.push(match (node.op, target) {
                _ if self.state.dropped_nodes.contains(&id) => Recorded::Other,
                // Whichever float it is: only its class matters.
                _ if self.state.numbers.open_floats.contains(&id) => {
                    Recorded::Number(PyFloat::new(self.py, 1.0).into_any())
                }
                // Whichever integer it is that chooses an item: what it decides more of is open, too.
                _ if self.state.numbers.open.contains(&id) && node.meta == INTEGER => {
                    Recorded::Number(PyInt::new(self.py, 0).into_any())
                }
                // Numbers that contents decide have no history; what works on them has none that is known.
                _ if self.state.numbers.open.contains(&id) => Recorded::Other,
                (NodeOp::Placeholder, _) => {
                    let (_, value) = self.state.inputs.iter().find(|(input, _)| *input == id)?;
                    let object = self.real(*value)?;
                    if self.is_symbolic(*value) { Recorded::Number(object) } else { Recorded::Input(object) }
                }
                (NodeOp::CallFunction, _) if node.domain.is_empty() => Recorded::Number(self.hint_of_node(id)?),
                (NodeOp::CallFunction, Some(target)) if node.domain == domain.name() => Recorded::Call {
                    target,
                    args: &node.args,
                    kwargs: &node.kwargs,
                    apart: node.backend == ForBackend::LeavesAlone,
                },
                (NodeOp::CallFunction, _) => return None,
                _ => Recorded::Other,
            });
        }
        let undo: Vec<_> = self.state.mode_changes.iter().rev().filter_map(|mode| mode.undo.as_ref()).collect();
        let undo: Vec<_> =
            undo.into_iter().map(|(call, args)| (call.clone_ref(self.py), args.clone_ref(self.py))).collect();
        domain.replay(self.py, &recorded, &undo, by_kernels)
    }

    /// The symbolic number that a node computes, as it is in this call.
    fn hint_of_node(&self, node: NodeId) -> Option<Bound<'py, PyAny>> {
        match self.value(self.number_of_node(node)?) {
            Value::New(New::Computed(computed)) => Some(computed.hint.bind(self.py).clone()),
            _ => None,
        }
    }

    fn replace_examples(&mut self, operand: &mut Operand<'py>, results: &[Option<Bound<'py, PyAny>>]) -> Traced<()> {
        match operand {
            Operand::Graph { value, example, .. } => {
                let node = self.graph_node(*value)?;
                if let Some(Some(result)) = results.get(node.0 as usize) {
                    *example = result.clone();
                }
                Ok(())
            }
            Operand::Tuple(items) | Operand::List(items) => {
                items.iter_mut().try_for_each(|item| self.replace_examples(item, results))
            }
            Operand::Known(_) | Operand::Number { .. } | Operand::Slice(_) | Operand::Foreign(_) => Ok(()),
        }
    }
}
