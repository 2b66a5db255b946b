//! Calls that change what a library will do with values of the graph later, not what they are: compiled code makes them after the graph.
use crate::domain::{Callee, Domain, LaterCall, Operand};
use crate::graph::{Argument, ForBackend, Node, NodeOp};
use crate::trace::state::arguments::Arguments;
use crate::trace::state::materialised::Materialised;
use crate::trace::state::numbers::TakenNumbers;
use crate::trace::state::outcome::{Effect, GraphChange};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, unsupported};
use crate::trace::state::value::{LATER_ATTRIBUTE, LATER_HANDLE, New, Value, ValueId};
use crate::trace::state::wholes::Whole;
use pyo3::prelude::*;
use pyo3::types::PyFunction;
use std::sync::Arc;

/// In the place of a source whose number must be known: attributes that the graph gives must.
const ATTRIBUTES: u64 = u64::MAX - 1;

impl<'py> Tracer<'py> {
    /// What such a call gives; `None`: it is another. A backend gets what comes before and after apart: what
    /// it makes of a graph may go other ways than through the value.
    pub(crate) fn call_after_graph(
        &mut self,
        function: &Bound<'py, PyAny>,
        args: &Arguments,
    ) -> Traced<Option<ValueId>> {
        if args.positional.first().is_some_and(|value| self.is_later_attribute(*value))
            && self.state.domains.iter().any(|domain| domain.is_called_after(function))
        {
            return match args.positional.len() == 2 && args.keywords.is_empty() {
                true => Ok(Some(self.later_handle(function, args))),
                false => self.know_attributes(),
            };
        }
        if let Some(result) = self.ask_giver(function, args)? {
            return Ok(Some(result));
        }
        let Some(value) = args.positional.first().filter(|_| args.keywords.is_empty()) else {
            return Ok(None);
        };
        if let [handle] = args.positional.as_slice()
            && self.state.later_handles.contains_key(handle)
            && self.state.domains.iter().any(|domain| domain.removes_handle(function))
        {
            let callable = self.constant(function.clone());
            self.state.effects.push(Effect::Call { callable, args: vec![*handle] });
            return Ok(Some(self.none()));
        }
        if !self.state.domains.iter().any(|domain| domain.is_called_after(function)) {
            return Ok(None);
        }
        let class = self.class_of(*value)?;
        let Some(domain) = self.domain_of(&class).filter(|_| !self.has_taking_modes()) else { return Ok(None) };
        if domain.takes_over(&class) {
            return Ok(None);
        }
        self.rely_on_surroundings(&domain)?;
        let operand = self.operand_of(*value, TakenNumbers::None)?;
        let Operand::Graph { example, .. } = &operand else { return Ok(None) };
        let Some(gives) = domain.called_after(function, example, args.positional.len()) else { return Ok(None) };
        let is_for_later = gives != LaterCall::GivesObject;
        if is_for_later && self.state.backend && !self.end_part_with(*value)? {
            return Ok(None);
        }
        // What a backend makes of a change in place may be another tensor in its place, which keeps nothing.
        let is_made = !self.state.backend && matches!(self.value(*value), Value::Node { .. });
        let given = match gives {
            LaterCall::InGraph if is_made => {
                let nothing = self.py.None().into_bound(self.py);
                self.record(&domain, function.clone(), &[operand], &[], nothing)?;
                *self.state.backward.retained += 1;
                return Ok(Some(self.none()));
            }
            LaterCall::GivesHandle => self.later_handle(function, args),
            LaterCall::GivesObject if self.state.numbers.fixed.contains_key(&ATTRIBUTES) => return Ok(None),
            LaterCall::GivesObject => {
                let callable = self.constant(function.clone());
                self.later_object(Whole { callable, args: args.positional.clone() })
            }
            LaterCall::GivesNothing | LaterCall::InGraph => {
                let callable = self.constant(function.clone());
                self.state.effects.push(Effect::Call { callable, args: args.positional.clone() });
                self.none()
            }
        };
        if is_for_later {
            self.state.used_after.push(*value);
        }
        Ok(Some(given))
    }

    /// The handle that such a call gives. The call makes it; what looks at it has it made, in its turn.
    fn later_handle(&mut self, function: &Bound<'py, PyAny>, args: &Arguments) -> ValueId {
        let callable = self.constant(function.clone());
        let handle = self.push(Value::New(New::Opaque(LATER_HANDLE)));
        self.state.later_handles.insert(handle, Whole { callable, args: args.positional.clone() });
        if let Ok(looks) = self.import("builtins", "callable") {
            let callable = self.constant(looks);
            self.state.effects.push(Effect::Call { callable, args: vec![handle] });
        }
        handle
    }

    /// An attribute of a value of the graph that is known when that has run, and of which the trace need not know more than that it is there.
    pub(crate) fn later_attribute(
        &mut self,
        domain: &Arc<dyn Domain>,
        object: ValueId,
        name: &str,
    ) -> Traced<Option<ValueId>> {
        if !domain.may_be_later(name) || self.state.numbers.fixed.contains_key(&ATTRIBUTES) {
            return Ok(None);
        }
        let class = self.class_of(object)?;
        if domain.takes_over(&class) || self.has_taking_modes() || domain.belongs_together(self.py) {
            return Ok(None);
        }
        let Operand::Graph { example, .. } = self.operand_of(object, TakenNumbers::None)? else { return Ok(None) };
        let Some(function) = domain.later_attribute(&example, name) else { return Ok(None) };
        let callable = self.constant(function);
        let found = self.later_object(Whole { callable, args: vec![object] });
        self.state.used_after.push(object);
        Ok(Some(found))
    }

    /// An object that a call gives, which compiled code makes after the graph.
    fn later_object(&mut self, call: Whole) -> ValueId {
        let found = self.push(Value::New(New::Opaque(LATER_ATTRIBUTE)));
        self.state.later_handles.insert(found, call);
        found
    }

    /// What a function gives that does what a method of such an object does, where it asks what the object belongs to.
    fn ask_giver(&mut self, function: &Bound<'py, PyAny>, args: &Arguments) -> Traced<Option<ValueId>> {
        let Some(later) = args.positional.first().copied().filter(|value| self.is_later_attribute(*value)) else {
            return Ok(None);
        };
        let mut domains = self.state.domains.iter();
        let asked = domains.find_map(|domain| Some((Arc::clone(domain), domain.asked_of_giver(function)?)));
        let Some((domain, asked)) = asked else { return Ok(None) };
        match (self.state.later_handles.get(&later).and_then(|call| call.args.first()).copied(), args.positional.len())
        {
            (Some(of), 1) if args.keywords.is_empty() => {
                self.call_domain(&domain, Callee::Function(asked), &[of], &[]).map(Some)
            }
            _ => self.know_attributes(),
        }
    }

    /// The trace is made again, and ends where such an attribute is read: it needs to know more of one.
    pub(crate) fn know_attributes<T>(&mut self) -> Traced<T> {
        if self.state.numbers.fixed.contains_key(&ATTRIBUTES) {
            return unsupported("use of an attribute that is known when the graph has run", LATER_ATTRIBUTE);
        }
        self.state.numbers.to_fix.push(ATTRIBUTES);
        Err(Unwind::Specialise)
    }

    /// Whether it is such an attribute.
    pub(crate) fn is_later_attribute(&self, value: ValueId) -> bool {
        matches!(self.value(value), Value::New(New::Opaque(LATER_ATTRIBUTE)))
    }

    /// A method of such an attribute, where it is one that adds something for later.
    pub(crate) fn method_of_later(&mut self, value: ValueId, name: &str) -> Option<ValueId> {
        if !self.is_later_attribute(value) {
            return None;
        }
        let Whole { callable, args } = self.state.later_handles.get(&value)?.clone();
        let giver = self.real(callable)?;
        let method = self.state.domains.iter().find_map(|domain| domain.later_method(&giver, name))?;
        let asks = self.state.domains.iter().any(|domain| domain.gives_storage(&giver));
        if self.state.backend && !asks && !self.runs_by_itself(*args.first()?) {
            return None;
        }
        let function = self.absorb_static(method);
        Some(self.bound_method(function, value))
    }

    /// Whether it is such a handle, and a method of its class has this name, which nothing that it holds hides.
    pub(crate) fn is_method_of_handle(&mut self, handle: ValueId, name: &str) -> Traced<bool> {
        if !self.state.later_handles.contains_key(&handle) {
            return Ok(false);
        }
        let class = self.class_of(handle)?;
        Ok(self.lookup(&class, name).is_some_and(|found| found.is_exact_instance_of::<PyFunction>()))
    }

    /// How compiled code makes such a handle; `None` for other values.
    pub(crate) fn describe_handle(&mut self, id: ValueId) -> Option<Materialised<Vec<ValueId>>> {
        let Whole { callable, args } = self.state.later_handles.get(&id)?.clone();
        let giver = self.real(callable)?;
        let is_unknown = |node: &Node| self.effects_of(node).is_some_and(|(_, effects)| effects.is_unknown);
        if self.state.domains.iter().any(|domain| domain.gives_storage(&giver))
            && self.state.graph.nodes.iter().any(is_unknown)
        {
            return Some(self.escape(id, "the memory of an array that may have got another one since"));
        }
        let children = args.iter().copied().chain([callable]).collect();
        Some(self.set(id, New::Call { callable, args, state: None }, children))
    }

    /// Has a backend get what comes after the node that gives a value apart, so that all that uses the value goes on with the object itself.
    /// `false`: that is not so, for the value was changed in place, or is one of several that an operation gives.
    fn end_part_with(&mut self, value: ValueId) -> Traced<bool> {
        let Value::Node { node, .. } = self.value(value) else { return Ok(true) };
        let node = *node;
        if self.state.changed_nodes.contains_key(&value) {
            return Ok(false);
        }
        let getitem = self.import("operator", "getitem")?;
        let nodes = &self.state.graph.nodes;
        let Some(made) = nodes.get(node.0 as usize) else { return Ok(false) };
        if made.backend != ForBackend::Compiles {
            return Ok(true);
        }
        let is_item = made.target.as_ref().is_some_and(|target| target.is(&getitem));
        if let (true, Some(Argument::Node(whole))) = (is_item, made.args.first())
            && let Some(whole) = nodes.get(whole.0 as usize)
        {
            // Items of a call that is apart are taken where that runs.
            let is_apart = whole.backend == ForBackend::LeavesAlone;
            if is_apart || !whole.meta.starts_with("Tensor") {
                return Ok(is_apart);
            }
        }
        self.state.graph.nodes[node.0 as usize].backend = ForBackend::EndsPart;
        Ok(true)
    }

    /// Has the node that gives a value run as it was recorded: then what belongs to the value is what belongs to it without a backend, which makes
    /// other objects of what it compiles. `false`: that is not so, for something in its memory was changed in place.
    fn runs_by_itself(&mut self, value: ValueId) -> bool {
        if self.state.changed_nodes.contains_key(&value) {
            return false;
        }
        let Value::Node { node, .. } = self.value(value) else { return true };
        let node = *node;
        let (memory, _) = self.memory_behind(node);
        let meets = |change: &GraphChange| self.memory_behind(change.operand).0.iter().any(|id| memory.contains(id));
        if self.state.changed_by_graph.iter().any(meets) {
            return false;
        }
        let nodes = &mut self.state.graph.nodes;
        let Some(made) = nodes.get(node.0 as usize) else { return false };
        // All that an operation gives has one node.
        let whole = match made.args.first() {
            Some(Argument::Node(whole)) if made.name.contains("getitem") => Some(*whole),
            _ => None,
        };
        for id in whole.into_iter().chain([node]) {
            let Some(made) = nodes.get_mut(id.0 as usize).filter(|made| made.op == NodeOp::CallFunction) else {
                continue;
            };
            made.backend = ForBackend::LeavesAlone;
        }
        true
    }

    /// Breaks where an operation changes something after such a call: the value would be another one then.
    pub(crate) fn refuse_change_after(&self) -> Traced<()> {
        match self.state.used_after.is_empty() {
            true => Ok(()),
            false => unsupported("change of a value", "after a call that is made when the graph has run"),
        }
    }
}
