//! Gradients that a trace reads after a call that goes back through the graph: they are where that puts them.
use crate::domain::{Answer, AnsweredOperation, Callee, Domain, Gives, Gradient, Operand};
use crate::graph::NodeId;
use crate::guard::Check;
use crate::guard::source::Source;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::Traced;
use crate::trace::state::value::{Value, ValueId};
use pyo3::prelude::*;
use std::sync::Arc;

impl<'py> Tracer<'py> {
    /// The gradient of a leaf, after such a call; `None`: there was none, or another attribute is read.
    pub(crate) fn gradient_after_backward(
        &mut self,
        domain: &Arc<dyn Domain>,
        leaf: ValueId,
        attribute: &str,
    ) -> Traced<Option<ValueId>> {
        let is_taken = self.state.backward.taken.contains(&leaf);
        if self.state.backward.nodes.is_empty() || !domain.is_gradient(attribute) || is_taken {
            return Ok(None);
        }
        if let Some((_, gradient)) = self.state.backward.read.iter().find(|(of, _)| *of == leaf) {
            return Ok(Some(*gradient));
        }
        let class = self.class_of(leaf)?;
        if domain.takes_over(&class) || self.has_taking_modes() {
            return self.leave_backward();
        }
        let Some(replayed) = self.replayed_leaf(leaf)? else { return self.gradient_beside_graph(leaf) };
        let gradient = match self.held_by_graph_value(domain, leaf, attribute) {
            Some(held) if !self.is_none(held)? => self.grown_gradient(domain, leaf, attribute, held),
            // The call does not come there.
            Some(_)
                if self.state.numbers.open.is_empty()
                    && replayed.getattr(attribute).is_ok_and(|made| made.is_none()) =>
            {
                return self.gradient_beside_graph(leaf);
            }
            _ => self.new_gradient(domain, leaf, &replayed)?,
        };
        let Some(gradient) = gradient else { return self.leave_backward() };
        self.state.backward.read.push((leaf, gradient));
        Ok(Some(gradient))
    }

    /// The same where the graph does not know the leaf, or does not come there: under another path it may, else no such call does.
    fn gradient_beside_graph(&mut self, leaf: ValueId) -> Traced<Option<ValueId>> {
        let Some(object) = self.real(leaf).filter(|_| self.source(leaf).is_some()) else {
            return self.leave_backward();
        };
        let inputs = self.state.inputs.iter().map(|(_, input)| *input);
        // An input that came in after the call is itself no other path.
        let inputs: Vec<_> = inputs.filter(|input| *input != leaf).collect();
        for input in inputs {
            if self.real(input).is_some_and(|other| other.is(&object)) {
                // The trace goes on to find others, and is made again.
                self.state.aliases.observed.extend([leaf, input]);
                return Ok(None);
            }
            if self.may_be_one(leaf, input) {
                self.guard_identity(leaf, input, "the trace read a gradient after a call of backward");
            }
        }
        Ok(None)
    }

    /// Whether the call that is being recorded puts gradients in the place of some that the trace has read.
    pub(super) fn replaces_gradients(&mut self, domain: &Arc<dyn Domain>) -> Traced<bool> {
        for (holder, gradient) in (*self.state.backward.replaced).clone() {
            let (holder, gradient) = (self.graph_node(holder)?, self.graph_node(gradient)?);
            let rehearsed = self.state.backward.rehearsed.as_ref();
            let made = |NodeId(index): NodeId| rehearsed?.get(index as usize)?.as_ref().map(|made| made.bind(self.py));
            let (Some(holder), Some(gradient)) = (made(holder), made(gradient)) else { return Ok(true) };
            let is_there = domain.gradient(holder, gradient, &|| None).is_some_and(|held| held.example.is(gradient));
            if !is_there {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What stands for a leaf in the graph as it was run again for the last such call.
    pub(super) fn replayed_leaf(&mut self, leaf: ValueId) -> Traced<Option<Bound<'py, PyAny>>> {
        let is_in_graph = match self.value(leaf) {
            Value::Node { .. } => true,
            _ => self.state.inputs.iter().any(|(_, input)| *input == leaf),
        };
        if !is_in_graph {
            return Ok(None);
        }
        let NodeId(index) = self.graph_node(leaf)?;
        let backward = &self.state.backward;
        let Some((last, replayed)) = &*backward.replayed else { return Ok(None) };
        let found = replayed.get(index as usize).filter(|_| backward.nodes.last() == Some(last));
        Ok(found.and_then(Option::as_ref).map(|found| found.bind(self.py).clone()))
    }

    /// A gradient that was there before: the call adds to it.
    fn grown_gradient(
        &self,
        domain: &Arc<dyn Domain>,
        leaf: ValueId,
        attribute: &str,
        held: ValueId,
    ) -> Option<ValueId> {
        let (leaf, gradient) = (self.real(leaf)?, self.real(held)?);
        domain.may_hold(&leaf, attribute, &gradient).then_some(held)
    }

    /// A gradient that the call made.
    pub(super) fn new_gradient(
        &mut self,
        domain: &Arc<dyn Domain>,
        leaf: ValueId,
        replayed: &Bound<'py, PyAny>,
    ) -> Traced<Option<ValueId>> {
        let example = self.example(domain, leaf)?;
        let last = self.state.backward.nodes.last().copied();
        let NodeId(index) = self.graph_node(leaf)?;
        let by_kernels = || {
            let results = self.replay(domain, last?.0 as usize + 1, true)?;
            results.into_iter().nth(index as usize).flatten()
        };
        let made = domain.gradient(replayed, &example, &by_kernels);
        let Some(Gradient { reader, example: gradient, grows, relies_on }) = made else { return Ok(None) };
        if let (Some((attribute, held)), Some(source)) = (relies_on, self.source(leaf)) {
            let source = Source::Attr(Arc::new(source), attribute.into());
            self.guard(source, Check::Is(held.unbind()), "the trace relied on what gradients of the leaf are");
        }
        let gradient = self.record_gradient(domain, leaf, example, (reader, gradient))?;
        if !grows {
            self.state.backward.replaced.push((leaf, gradient));
        }
        Ok(Some(gradient))
    }

    /// What gives the gradient of a leaf, which is like an example; where sizes are symbolic, the graph so far says how large it is.
    fn record_gradient(
        &mut self,
        domain: &Arc<dyn Domain>,
        leaf: ValueId,
        like_leaf: Bound<'py, PyAny>,
        (reader, example): (Bound<'py, PyAny>, Bound<'py, PyAny>),
    ) -> Traced<ValueId> {
        let layout = self.state.numbers.layouts.get(&leaf).cloned();
        let args = vec![Operand::Graph { value: leaf, example: like_leaf, layout }];
        let callee = Callee::Function(reader.clone());
        let answer = Answer::Node { target: reader, args: args.clone(), kwargs: Vec::new(), example };
        let layouts = match self.state.numbers.layouts.is_empty() {
            true => Vec::new(),
            false => {
                let (py, callee, args, answer, is_worthwhile) = (self.py, &callee, &args[..], &answer, true);
                let operation = AnsweredOperation { py, callee, args, kwargs: &[], answer, is_worthwhile, graph: None };
                self.layouts_of(domain, operation)?
            }
        };
        self.take_answer(domain, answer, layouts)
    }

    /// Makes the trace again where something that may be such a gradient is changed in more than what it holds: it becomes another leaf, or
    /// comes to remember what it was computed from.
    pub(crate) fn refuse_change_of_gradients(
        &mut self,
        domain: &Arc<dyn Domain>,
        gives: &Gives,
        changed: &[NodeId],
        example: &Bound<'py, PyAny>,
    ) -> Traced<()> {
        let read = &self.state.backward.read;
        let is_other = |value: &ValueId| read.iter().all(|(_, gradient)| gradient != value);
        match gives {
            _ if read.is_empty() => Ok(()),
            Gives::Became(value) | Gives::Relaid(value) if is_other(value) => Ok(()),
            Gives::Became(_) | Gives::Relaid(_) => self.leave_backward(),
            _ if !domain.keeps_history(example) => Ok(()),
            _ if changed.iter().all(|changed| self.is_memory_of_its_own(*changed)) => Ok(()),
            _ => self.leave_backward(),
        }
    }

    /// Whether a node gives memory that the graph has made, and that holds no gradient.
    fn is_memory_of_its_own(&self, node: NodeId) -> bool {
        let (behind, inputs) = self.memory_behind(node);
        let is_gradient = |gradient: ValueId| match self.value(gradient) {
            Value::Node { node, .. } => behind.contains(node),
            // It comes in.
            _ => false,
        };
        inputs.is_empty() && !self.state.backward.read.iter().any(|(_, gradient)| is_gradient(*gradient))
    }
}
