//! Calls on wrappers that the graph makes as they are, for gradients follow them, or what they give shares memory with an operand: the trace has
//! gone through the methods that get the operations, to learn what they give and that they change nothing outside; the graph calls the
//! library's function itself.
use crate::domain::{Dispatching, Domain, Operand};
use crate::trace::call::rehearsal::{RehearsalStart, SEES_CHANGES, WHOLE, is_of_attribute};
use crate::trace::state::numbers::TakenNumbers;
use crate::trace::state::outcome::{Effect, GraphChange};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, internal, unsupported};
use crate::trace::state::value::{Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::{PyList, PySlice, PyTuple};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A library's function, and what stands for its arguments.
pub(crate) struct NativeCall<'py> {
    pub(crate) function: Bound<'py, PyAny>,
    pub(crate) positional: Vec<Bound<'py, PyAny>>,
    pub(crate) named: Vec<(String, Bound<'py, PyAny>)>,
}

/// What stands for an operand, and its example.
type Given<'py> = Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>;

/// What the trace has learnt of values that are dropped, and the values that the graph has in their places.
pub(super) type Parts = FxHashMap<ValueId, ValueId>;

const KIND: &str = "operation on a wrapper that runs as it is";

impl<'py> Tracer<'py> {
    /// The graph makes the call; `object` stands for what it gives.
    pub(super) fn call_natively(
        &mut self,
        domain: &Arc<dyn Domain>,
        call: &NativeCall<'py>,
        object: &Bound<'py, PyAny>,
        start: &RehearsalStart,
    ) -> Traced<ValueId> {
        let Some(dispatching) = domain.dispatching() else { return internal("a library without such classes") };
        self.drop_attributes(start)?;
        self.drop_recorded(start)?;
        let mut given = Given::new();
        let mut changed = Vec::new();
        for (value, stand_in) in &self.state.dispatched.given {
            let stand_in = stand_in.bind(self.py).clone();
            if dispatching.is_changed(&stand_in) {
                changed.push((*value, stand_in.clone()));
            }
            given.push((stand_in, self.example(domain, *value)?));
        }
        let changed = self.changed_wrappers(domain, dispatching, changed, &given)?;
        let (mut args, mut kwargs) = (vec![Operand::Known(call.function.clone())], Vec::new());
        for object in &call.positional {
            args.push(self.native_operand(domain, object)?);
        }
        for (name, object) in &call.named {
            kwargs.push((name.clone(), self.native_operand(domain, object)?));
        }
        let target = self.import("operator", "call")?;
        let example = self.native_result(dispatching, object, &given)?;
        let whole = self.record(domain, target, &args, &kwargs, example.clone())?;
        let by = self.graph_node(whole)?;
        for value in changed {
            let operand = self.graph_node(value)?;
            self.state.changed_by_graph.push(GraphChange { operand, by });
        }
        self.native_values(domain, whole, object, &example)
    }

    /// The call raises: nothing of it is left.
    pub(super) fn drop_before_raise(&mut self, domain: &Arc<dyn Domain>, start: &RehearsalStart) -> Traced<()> {
        let Some(dispatching) = domain.dispatching() else { return internal("a library without such classes") };
        let mut given = self.state.dispatched.given.iter();
        if given.any(|(_, object)| dispatching.is_changed(object.bind(self.py))) {
            return unsupported(KIND, "it raises after a change");
        }
        self.drop_attributes(start)?;
        let dropped = self.drop_recorded(start)?;
        match self.state.changed_by_graph.iter().any(|change| dropped.contains(&change.by)) {
            true => unsupported(KIND, "it raises after a change"),
            false => Ok(()),
        }
    }

    /// Attributes of what the methods have made are not set once more: PyTorch runs the methods.
    fn drop_attributes(&mut self, start: &RehearsalStart) -> Traced<()> {
        let (effects, copies) = start.changes;
        let made = |from: usize, effect: &Effect| match effect {
            Effect::SetAttr { object, .. } => {
                matches!(self.value(*object), Value::Node { node, .. } if node.0 as usize >= from)
            }
            _ => false,
        };
        let before = self.state.effects.iter().take(effects).all(is_of_attribute);
        if copies != 0 || !before || self.state.attributes.is_seen.get() {
            return unsupported(WHOLE, SEES_CHANGES);
        }
        if !self.state.effects.iter().skip(effects).all(|effect| made(start.nodes, effect)) {
            return unsupported(WHOLE, "what it calls changes something outside");
        }
        self.state.effects.truncate(effects);
        Ok(())
    }

    /// The operands that are changed in place.
    fn changed_wrappers(
        &mut self,
        domain: &Arc<dyn Domain>,
        dispatching: &dyn Dispatching,
        changed: Vec<(ValueId, Bound<'py, PyAny>)>,
        given: &Given<'py>,
    ) -> Traced<Vec<ValueId>> {
        let mut values = Vec::new();
        for (value, stand_in) in changed {
            let example = self.example(domain, value)?;
            let now = dispatching.native_example(&stand_in, &example, given).map_err(Unwind::Break)?;
            if domain.keeps_history(&now) != domain.keeps_history(&example) {
                return unsupported(KIND, "a wrapper comes to require gradients");
            }
            if domain.keeps_history(&now) && self.real(value).is_some() {
                return unsupported(KIND, "it changes one from outside that gradients follow");
            }
            values.push(value);
        }
        Ok(values)
    }

    /// What the graph's call gets for what stood for an argument.
    fn native_operand(&mut self, domain: &Arc<dyn Domain>, object: &Bound<'py, PyAny>) -> Traced<Operand<'py>> {
        if let Some(value) = self.dispatched_value(object) {
            return self.wrapper_operand(domain, value);
        }
        if let Ok(slice) = object.cast_exact::<PySlice>() {
            let bound = |name: &str| slice.getattr(name).or_else(|error| internal(error.to_string()));
            let bounds = [bound("start")?, bound("stop")?, bound("step")?];
            let [start, stop, step] = bounds.map(|bound| self.native_operand(domain, &bound));
            return Ok(Operand::Slice(Box::new([start?, stop?, step?])));
        }
        let mut items = Vec::new();
        let sequence = object.cast_exact::<PyTuple>().is_ok() || object.cast_exact::<PyList>().is_ok();
        for item in object.try_iter().into_iter().flatten().flatten().take(if sequence { usize::MAX } else { 0 }) {
            items.push(self.native_operand(domain, &item)?);
        }
        Ok(match sequence {
            true if object.is_exact_instance_of::<PyTuple>() => Operand::Tuple(items),
            true => Operand::List(items),
            false => Operand::Known(object.clone()),
        })
    }

    /// A wrapper as an operand, with its attributes; or another value.
    pub(super) fn wrapper_operand(&mut self, domain: &Arc<dyn Domain>, value: ValueId) -> Traced<Operand<'py>> {
        let keys = self.state.attributes.order.iter().filter(|(object, _)| *object == value);
        let is_made = matches!(self.value(value), Value::Node { .. });
        for key in keys.filter(|_| is_made).cloned().collect::<Vec<_>>() {
            let Some(Some(held)) = self.state.attributes.get(&key).copied() else {
                return unsupported(KIND, "an attribute was deleted");
            };
            if self.state.held_by_wrappers.get(&key) != Some(&held) {
                self.hold_now(domain, key, held)?;
            }
        }
        self.state.dispatched.takes_wrappers = true;
        self.operand_of(value, TakenNumbers::None)
    }

    /// A wrapper that the graph has made gets an attribute within the graph.
    fn hold_now(&mut self, domain: &Arc<dyn Domain>, key: (ValueId, String), held: ValueId) -> Traced<()> {
        let class = self.class_of(held)?;
        let operand = match domain.claims(&class) {
            true => self.wrapper_operand(domain, held)?,
            false => self.operand_of(held, TakenNumbers::None)?,
        };
        self.state.dispatched.takes_wrappers = true;
        let wrapper = self.operand_of(key.0, TakenNumbers::None)?;
        let example = self.example(domain, key.0)?;
        let name = crate::names::interned(self.py, &key.1).into_any();
        let target = self.import("builtins", "setattr")?;
        let by = self.record(domain, target, &[wrapper, Operand::Known(name), operand], &[], example)?;
        let (operand, by) = (self.graph_node(key.0)?, self.graph_node(by)?);
        self.state.changed_by_graph.push(GraphChange { operand, by });
        self.state.held_by_wrappers.insert(key, held);
        Ok(())
    }

    /// An example of what the call gives.
    fn native_result(
        &mut self,
        dispatching: &dyn Dispatching,
        object: &Bound<'py, PyAny>,
        given: &Given<'py>,
    ) -> Traced<Bound<'py, PyAny>> {
        if let Some((_, example)) = given.iter().find(|(stand_in, _)| stand_in.is(object)) {
            return Ok(example.clone());
        }
        if let Some(value) = self.dispatched_value(object) {
            let Value::Node { node, example, .. } = self.value(value) else {
                return unsupported(KIND, "it gives what was there before");
            };
            let example = example.bind(self.py).clone();
            if !self.state.dropped_nodes.contains(node) {
                return unsupported(KIND, "it gives what was there before");
            }
            return dispatching.native_example(object, &example, given).map_err(Unwind::Break);
        }
        if object.is_none() {
            return Ok(object.clone());
        }
        if !object.is_instance_of::<PyTuple>() && !object.is_exact_instance_of::<PyList>() {
            return unsupported(KIND, "it gives no tensor");
        }
        let mut items = Vec::new();
        for item in object.try_iter().into_iter().flatten().flatten() {
            items.push(self.native_result(dispatching, &item, given)?);
        }
        let made = match object.is_exact_instance_of::<PyTuple>() {
            true => PyTuple::new(self.py, items).map(Bound::into_any),
            false => PyTuple::new(self.py, items).and_then(|items| object.get_type().call1((items,))),
        };
        made.or_else(|error| internal(error.to_string()))
    }

    /// The values that the graph's call gives, with the attributes that the methods have given them.
    fn native_values(
        &mut self,
        domain: &Arc<dyn Domain>,
        whole: ValueId,
        object: &Bound<'py, PyAny>,
        example: &Bound<'py, PyAny>,
    ) -> Traced<ValueId> {
        let itself = |tracer: &Self, object: &Bound<'py, PyAny>| {
            let mut given = tracer.state.dispatched.given.iter();
            given.find(|(_, stand_in)| stand_in.is(object)).map(|(value, _)| *value)
        };
        if let Some(value) = itself(self, object) {
            return Ok(value);
        }
        if object.is_none() {
            return Ok(self.none());
        }
        let mut parts = Parts::default();
        if let Some(known) = self.dispatched_value(object) {
            parts.insert(known, whole);
            self.give_attributes(domain, known, whole, &mut parts)?;
            return Ok(whole);
        }
        let items: Vec<_> = object.try_iter().into_iter().flatten().flatten().collect();
        let operands: Vec<_> = items.iter().map(|item| itself(self, item)).collect();
        let getitem = self.import("operator", "getitem")?;
        let made = self.record_parts(domain, whole, example, (&getitem, &operands), Vec::new().into_iter())?;
        let natives: Vec<_> = self.owned(made).map(|made| made.try_iter()).into_iter().flatten().flatten().collect();
        for (item, native) in items.iter().zip(natives) {
            let native = native.or_else(|error| internal(error.to_string()))?;
            let value = self.absorb(native);
            if let Some(known) = self.dispatched_value(item).filter(|known| *known != value) {
                parts.insert(known, value);
                self.give_attributes(domain, known, value, &mut parts)?;
            }
        }
        Ok(made)
    }

    /// What the graph gives has the attributes that the trace has seen set.
    pub(super) fn give_attributes(
        &mut self,
        domain: &Arc<dyn Domain>,
        known: ValueId,
        value: ValueId,
        parts: &mut Parts,
    ) -> Traced<()> {
        let keys = self.state.attributes.order.iter().filter(|(object, _)| *object == known);
        for (_, name) in keys.cloned().collect::<Vec<_>>() {
            let Some(Some(held)) = self.state.attributes.get(&(known, name.clone())).copied() else { continue };
            let part = match parts.get(&held) {
                Some(part) => *part,
                None => self.native_part(domain, value, &name, held, parts)?,
            };
            let key = (value, name);
            self.state.attributes.change(key.clone(), Some(part));
            self.state.held_by_wrappers.insert(key, part);
        }
        Ok(())
    }

    /// What an attribute of what the graph gives holds; `held` did so in the trace.
    fn native_part(
        &mut self,
        domain: &Arc<dyn Domain>,
        value: ValueId,
        name: &str,
        held: ValueId,
        parts: &mut Parts,
    ) -> Traced<ValueId> {
        let dropped = match self.value(held) {
            Value::Node { node, example, .. } if self.state.dropped_nodes.contains(node) => {
                Some(example.bind(self.py).clone())
            }
            _ => None,
        };
        if dropped.as_ref().is_some_and(|example| !domain.claims(&domain.class_of(example))) {
            return unsupported(KIND, "what it gives holds neither a tensor nor a plain value");
        }
        let Some(example) = dropped else {
            self.state.dispatched.takes_wrappers = true;
            return match self.operand_of(held, TakenNumbers::None)? {
                Operand::Graph { .. } | Operand::Known(_) => Ok(held),
                _ => unsupported(KIND, "what it gives holds neither a tensor nor a plain value"),
            };
        };
        self.state.dispatched.takes_wrappers = true;
        let operand = self.operand_of(value, TakenNumbers::None)?;
        let attribute = crate::names::interned(self.py, name).into_any();
        let target = self.import("builtins", "getattr")?;
        let part = self.record(domain, target, &[operand, Operand::Known(attribute)], &[], example)?;
        parts.insert(held, part);
        self.give_attributes(domain, held, part, parts)?;
        Ok(part)
    }
}
