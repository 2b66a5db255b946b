//! Calls that the graph makes as a whole, of functions that call others: the trace goes through those others to learn what they read, and
//! that they change nothing outside; what it records on the way is dropped, and the graph calls the function itself.
use crate::domain::{Callee, Domain, ModeChange, Operand, PlainForward, Rehearsal};
use crate::graph::{NodeId, NodeOp};
use crate::trace::state::arguments::Arguments;
use crate::trace::state::numbers::TakenNumbers;
use crate::trace::state::outcome::Effect;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, internal, unsupported};
use crate::trace::state::value::{Value, ValueId};
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// What a function with gradients of its own calls: `forward`, `setup_context`, `backward`, and the class of the context.
type CalledByGradient<'py> =
    (Bound<'py, PyAny>, Option<Bound<'py, PyAny>>, Option<Bound<'py, PyAny>>, Bound<'py, PyAny>);

/// The changes that nobody was to see before, and whether somebody had.
pub(crate) type HiddenChanges = (FxHashSet<(ValueId, String)>, bool);

/// Whether a change is one of an attribute.
pub(crate) fn is_of_attribute(effect: &Effect) -> bool {
    matches!(effect, Effect::SetAttr { .. } | Effect::DelAttr { .. })
}

pub(crate) const SEES_CHANGES: &str = "what it calls may see changes that compiled code makes later";

/// What the trace has learnt of a function with gradients of its own: its context, what `forward` gave, whether an argument requires gradients.
pub(crate) struct Applied {
    pub(crate) context: ValueId,
    pub(crate) result: ValueId,
    pub(crate) needed: bool,
}

/// What there was before a call that may be dropped.
pub(crate) struct RehearsalStart {
    /// How many nodes.
    pub(crate) nodes: usize,
    /// How many changes: effects, and copies.
    pub(crate) changes: (usize, usize),
    backward: usize,
}

pub(crate) const WHOLE: &str = "function that calls others and is no node of the graph";

impl<'py> Tracer<'py> {
    /// The result of a call that the graph makes as a whole; `None`: it is another call.
    pub(crate) fn call_rehearsed(&mut self, callable: ValueId, args: &Arguments) -> Traced<Option<ValueId>> {
        let Some(object) = self.real(callable) else { return Ok(None) };
        let found = self.state.domains.iter().find_map(|domain| Some((Arc::clone(domain), domain.rehearsal(&object)?)));
        let Some((domain, rehearsal)) = found else { return Ok(None) };
        let Some(object) = self.known(callable).or_else(|| self.same_object(callable)) else {
            return unsupported(WHOLE, "it is not known");
        };
        // What is switched on the way is no state of the surroundings.
        self.rely_on_surroundings(&domain)?;
        match rehearsal {
            Rehearsal::Gradient { forward, set_up, context, off, back, plain, .. }
                if self.has_containers(args)? && self.is_plain_forward(&domain, plain, args)? =>
            {
                self.call_forward(&domain, (context, forward, set_up), (off, back), args).map(Some)
            }
            Rehearsal::Gradient { forward, set_up, backward, context, off, back, .. } => {
                // A backend that gets the graph goes back through it once, when it compiles it.
                let backward = backward.filter(|_| self.state.backend);
                self.call_gradient(&domain, object, (forward, set_up, backward, context), (off, back), args).map(Some)
            }
            Rehearsal::HigherOrder(order) => self.call_higher_order(&domain, object, order, args).map(Some),
        }
    }

    /// `forward(ctx, *args)`, or `forward(*args)` and `setup_context(ctx, args, result)`, without gradients; and `backward(ctx, *gradients)`.
    fn call_gradient(
        &mut self,
        domain: &Arc<dyn Domain>,
        apply: Bound<'py, PyAny>,
        (forward, set_up, backward, context): CalledByGradient<'py>,
        (off, back): (Box<ModeChange<'py>>, Box<ModeChange<'py>>),
        args: &Arguments,
    ) -> Traced<ValueId> {
        // Those that the called function could change are other ones at each call.
        if self.has_containers(args)? {
            return unsupported(WHOLE, "an argument is neither a tensor nor a plain value");
        }
        if self.any_is_of_class(&args.positional, &args.keywords, &|class| domain.hears(class))? {
            return unsupported(WHOLE, "a class of its arguments hears what the library asks of them");
        }
        let dispatches = |class: &Bound<'py, PyType>| domain.dispatching().is_some_and(|found| found.dispatches(class));
        let has_wrappers = self.any_is_of_class(&args.positional, &args.keywords, &dispatches)?;
        let backward = backward.filter(|_| !has_wrappers);
        let (context, forward) = (self.absorb_static(context), self.absorb_static(forward));
        let set_up = set_up.map(|set_up| self.absorb_static(set_up));
        self.refuse_changes()?;
        let before = self.state.graph.nodes.len();
        let hidden = self.hide_changes();
        let rehearsed = self.rehearse(before, |tracer| {
            let mut needs = Vec::new();
            for arg in &args.positional {
                needs.push(tracer.needs_gradients(domain, *arg)?);
            }
            let needed = needs.contains(&true);
            let needs = PyTuple::new(tracer.py, needs).or_else(|error| internal(error.to_string()))?;
            let needs = tracer.constant(needs.into_any());
            tracer.switch(domain, *off)?;
            let called =
                tracer.call_within_gradient((context, forward, set_up, backward.filter(|_| needed)), needs, args);
            if matches!(called, Ok(_) | Err(Unwind::Raised(_))) {
                tracer.switch(domain, *back)?;
            }
            let (context, result) = called?;
            Ok(Applied { context, result, needed })
        });
        let has_seen = self.show_changes(hidden);
        let (applied, dropped) = rehearsed?;
        if has_seen {
            return unsupported(WHOLE, SEES_CHANGES);
        }
        if has_wrappers {
            return self.apply_to_wrappers(domain, apply, args, &applied, &dropped);
        }
        self.refuse_others(&dropped, args)?;
        self.call_domain(domain, Callee::Function(apply), &args.positional, &args.keywords)
    }

    /// What a function with gradients of its own calls, the class of its context, `forward` and `setup_context` known to the trace: the context,
    /// and what `forward` gives.
    fn call_within_gradient(
        &mut self,
        (class, forward, set_up, backward): (ValueId, ValueId, Option<ValueId>, Option<Bound<'py, PyAny>>),
        needs: ValueId,
        args: &Arguments,
    ) -> Traced<(ValueId, ValueId)> {
        let context = self.call(class, Arguments::positional(vec![needs]))?;
        let mut given = args.clone();
        if set_up.is_none() {
            given.positional.insert(0, context);
        }
        let result = self.call(forward, given)?;
        if let Some(set_up) = set_up {
            let inputs = self.tuple(&args.positional)?;
            self.call(set_up, Arguments::positional(vec![context, inputs, result]))?;
        }
        if let Some(backward) = backward {
            let (go_back, backward) = (self.get_attr(context, "go_back")?, self.absorb_static(backward));
            match self.call(go_back, Arguments::positional(vec![backward, result])) {
                Err(Unwind::Raised(_)) => return unsupported(WHOLE, "its way back raises"),
                went => went.map(drop)?,
            }
        }
        Ok((context, result))
    }

    /// Goes through calls, and drops what they have recorded, from a node on; breaks where they change something outside.
    pub(crate) fn rehearse<T>(
        &mut self,
        before: usize,
        run: impl FnOnce(&mut Self) -> Traced<T>,
    ) -> Traced<(T, Vec<NodeId>)> {
        let start = RehearsalStart { nodes: before, ..self.rehearsal_start() };
        self.state.rehearsals += 1;
        let result = run(self);
        self.state.rehearsals -= 1;
        let result = result.inspect_err(|signal| {
            // It runs natively as a whole.
            if matches!(signal, Unwind::Break(_)) {
                self.state.broken_frames.clear();
            }
        });
        let result = result?;
        let dropped = self.drop_recorded(&start)?;
        match dropped.iter().any(|node| self.state.numbers.open.contains(node)) {
            true => unsupported(WHOLE, "contents decide sizes within it"),
            false => Ok((result, dropped)),
        }
    }

    /// Where what is recorded from now on may be dropped.
    pub(crate) fn rehearsal_start(&self) -> RehearsalStart {
        let (changes, backward) = (self.changes(), self.state.backward.count());
        RehearsalStart { nodes: self.state.graph.nodes.len(), changes, backward }
    }

    /// Drops what was recorded since; breaks where something outside was changed.
    pub(crate) fn drop_recorded(&mut self, start: &RehearsalStart) -> Traced<Vec<NodeId>> {
        if self.changes() != start.changes || self.state.backward.count() != start.backward {
            return unsupported(WHOLE, "what it calls changes something outside");
        }
        let recorded = self.state.graph.nodes.iter().enumerate().skip(start.nodes);
        let dropped = recorded.filter(|(_, node)| node.op == NodeOp::CallFunction);
        let dropped = dropped.map(|(index, _)| NodeId(index as u32));
        let dropped: Vec<_> = dropped.filter(|node| !self.state.dropped_nodes.contains(node)).collect();
        let state = &mut *self.state;
        state.dropped_nodes.extend(dropped.iter().copied());
        state.numbers.nodes.retain(|_, node| !state.dropped_nodes.contains(node));
        state.numbers.nodes_of.retain(|_, node| !state.dropped_nodes.contains(node));
        state.changed_nodes.retain(|_, node| !state.dropped_nodes.contains(node));
        state.changed_by_graph.retain(|change| !state.dropped_nodes.contains(&change.operand));
        Ok(dropped)
    }

    /// How many changes to objects from outside there are so far: effects, and copies.
    pub(crate) fn changes(&self) -> (usize, usize) {
        let copies = self.state.private_copies.iter().filter(|copy| copy.is_changed(self.py)).count();
        (self.state.effects.len(), copies)
    }

    /// What runs natively within the graph runs before the changes that compiled code replays. Of attributes it is known who looks at them.
    fn refuse_changes(&self) -> Traced<()> {
        let (_, copies) = self.changes();
        match copies == 0 && self.state.effects.iter().all(is_of_attribute) {
            true => Ok(()),
            false => unsupported(WHOLE, SEES_CHANGES),
        }
    }

    /// From now on nobody may see the attributes that the trace has changed of objects from outside.
    pub(crate) fn hide_changes(&mut self) -> HiddenChanges {
        let changed = self.state.effects.iter().filter_map(|effect| match effect {
            Effect::SetAttr { object, name, .. } | Effect::DelAttr { object, name } => Some((*object, name.clone())),
            _ => None,
        });
        let changed = changed.filter(|(object, _)| !matches!(self.value(*object), Value::Node { .. })).collect();
        let attributes = &mut self.state.attributes;
        (std::mem::replace(&mut attributes.hidden, changed), attributes.is_seen.replace(false))
    }

    /// Ends that; whether somebody has.
    pub(crate) fn show_changes(&mut self, (hidden, was_seen): HiddenChanges) -> bool {
        let attributes = &mut self.state.attributes;
        attributes.hidden = hidden;
        let is_seen = attributes.is_seen.get();
        attributes.is_seen.set(is_seen || was_seen);
        is_seen
    }

    /// Whether an argument is neither an array nor a plain value.
    fn has_containers(&mut self, args: &Arguments) -> Traced<bool> {
        for value in args.positional.iter().chain(args.keywords.iter().map(|(_, value)| value)) {
            self.state.dispatched.takes_wrappers = true;
            if !matches!(self.operand_of(*value, TakenNumbers::None)?, Operand::Graph { .. } | Operand::Known(_)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a call with these arguments does what `forward` does.
    fn is_plain_forward(&mut self, domain: &Arc<dyn Domain>, plain: PlainForward, args: &Arguments) -> Traced<bool> {
        if plain == PlainForward::No || !args.keywords.is_empty() {
            return Ok(false);
        }
        for value in &args.positional {
            let Operand::Graph { example, .. } = self.operand_of(*value, TakenNumbers::None)? else { continue };
            let may_need = plain == PlainForward::OfIntegers && domain.may_require_gradients(&example);
            if may_need || domain.requires_gradients(&example) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What `forward` does is in the graph, and its result is that of the call: what the graph makes, not an argument, which would be given back as
    /// another object.
    fn call_forward(
        &mut self,
        domain: &Arc<dyn Domain>,
        (context, forward, set_up): (Bound<'py, PyAny>, Bound<'py, PyAny>, Option<Bound<'py, PyAny>>),
        (off, back): (Box<ModeChange<'py>>, Box<ModeChange<'py>>),
        args: &Arguments,
    ) -> Traced<ValueId> {
        let before = self.state.values.len();
        let (context, forward) = (self.absorb_static(context), self.absorb_static(forward));
        let set_up = set_up.map(|set_up| self.absorb_static(set_up));
        let needs = vec![false; args.positional.len()];
        let needs = PyTuple::new(self.py, needs).or_else(|error| internal(error.to_string()))?;
        let needs = self.constant(needs.into_any());
        self.switch(domain, *off)?;
        let called = self.call_within_gradient((context, forward, set_up, None), needs, args);
        let called = called.inspect_err(|signal| {
            // It runs natively as a whole.
            if matches!(signal, Unwind::Break(_)) {
                self.state.broken_frames.clear();
            }
        });
        if matches!(called, Ok(_) | Err(Unwind::Raised(_))) {
            self.switch(domain, *back)?;
        }
        let (_, result) = called?;
        match self.value(result) {
            Value::Node { .. } if result.0 as usize >= before => Ok(result),
            _ => unsupported(WHOLE, "it gives something else than a new tensor"),
        }
    }

    /// A backend that gets the graph does not see what a function uses beside its arguments.
    fn refuse_others(&mut self, dropped: &[NodeId], args: &Arguments) -> Traced<()> {
        let mut own = dropped.to_vec();
        for value in args.positional.iter().chain(args.keywords.iter().map(|(_, value)| value)) {
            if let Operand::Graph { value, .. } = self.operand_of(*value, TakenNumbers::None)? {
                own.push(self.graph_node(value)?);
            }
        }
        let mut used = Vec::new();
        let nodes = dropped.iter().filter_map(|node| self.state.graph.nodes.get(node.0 as usize));
        nodes.for_each(|node| node.arguments().for_each(|argument| argument.nodes(&mut used)));
        match used.iter().all(|node| own.contains(node)) {
            true => Ok(()),
            false => unsupported(WHOLE, "what it calls uses tensors beside its arguments"),
        }
    }

    fn needs_gradients(&mut self, domain: &Arc<dyn Domain>, value: ValueId) -> Traced<bool> {
        self.state.dispatched.takes_wrappers = true;
        let Operand::Graph { example, .. } = self.operand_of(value, TakenNumbers::None)? else { return Ok(false) };
        Ok(domain.requires_gradients(&example))
    }
}
