//! Liveness: which values the emitted code needs.
use crate::graph::NodeId;
use crate::trace::state::outcome::{Effect, End, Outcome};
use crate::trace::state::value::{InlinedFrame, New, Value, ValueId};
use rustc_hash::FxHashSet;

/// Values by what becomes of them, each in the order of first need.
#[derive(Debug, Default)]
pub struct LiveValues {
    /// Every value, children after parents.
    pub values: Vec<ValueId>,
    /// Graph results among them.
    pub results: Vec<NodeId>,
}

/// Follows effects and end into everything that they hold.
pub fn find(outcome: &Outcome) -> LiveValues {
    let mut search = Search { outcome, seen: FxHashSet::default(), needed: LiveValues::default() };
    outcome.acquired_first.iter().for_each(|hold| search.effect(&hold.take()));
    outcome.acquired_first.iter().for_each(|hold| search.value(hold.release));
    outcome.effects.iter().for_each(|effect| search.effect(effect));
    match &outcome.end {
        End::Return { value, kept, .. } => {
            search.value(*value);
            kept.iter().flatten().for_each(|value| search.value(*value));
        }
        End::Raise(value) => search.value(*value),
        end @ End::Break { .. } => search.all(&end.values()),
    }
    search.needed
}

struct Search<'a> {
    outcome: &'a Outcome,
    seen: FxHashSet<ValueId>,
    needed: LiveValues,
}

impl Search<'_> {
    fn effect(&mut self, effect: &Effect) {
        match effect {
            Effect::SetAttr { object, value, .. } => self.all(&[*object, *value]),
            Effect::DelAttr { object, .. } => self.value(*object),
            Effect::SetItem { object, key, value } => self.all(&[*object, *key, *value]),
            Effect::DelItem { object, key } => self.all(&[*object, *key]),
            Effect::ReplaceList { list, values } => {
                self.value(*list);
                self.all(values);
            }
            Effect::SetGlobal { globals, value, .. } => self.all(&[*globals, *value]),
            Effect::DelGlobal { globals, .. } => self.value(*globals),
            Effect::Call { callable, args } => {
                self.value(*callable);
                self.all(args);
            }
            Effect::SetCell { cell, value } => {
                self.value(*cell);
                value.iter().for_each(|value| self.value(*value));
            }
        }
    }

    fn all(&mut self, values: &[ValueId]) {
        values.iter().for_each(|value| self.value(*value));
    }

    fn value(&mut self, id: ValueId) {
        let mut work = vec![id];
        while let Some(id) = work.pop() {
            if !self.seen.insert(id) {
                continue;
            }
            self.needed.values.push(id);
            match self.outcome.values.get(id.0 as usize) {
                Some(Value::Node { node, .. }) => self.needed.results.push(*node),
                Some(Value::New(made)) => work.extend(children(made).into_iter().rev()),
                Some(Value::Real { .. }) | None => {}
            }
        }
    }
}

/// The values that an object made during the trace holds.
pub fn children(made: &New) -> Vec<ValueId> {
    match made {
        New::Tuple(items) | New::List(items) | New::Set(items) => items.clone(),
        New::Dict(entries) => entries.iter().flat_map(|(key, value)| [*key, *value]).collect(),
        New::HashedDict(entries) => entries.iter().flat_map(|(_, key, value)| [*key, *value]).collect(),
        New::Slice(parts) => parts.to_vec(),
        New::Cell(content) => content.iter().copied().collect(),
        New::Function { defaults, kwdefaults, closure, attributes, .. } => {
            let parts = [defaults, kwdefaults].into_iter().flatten();
            parts.chain(closure).chain(attributes.iter().map(|(_, value)| value)).copied().collect()
        }
        New::Method { function, receiver } => vec![*function, *receiver],
        New::Instance { class, args, content, order, attributes } => {
            let content = content.iter().chain(order).copied();
            let held = content.chain(attributes.iter().map(|(_, value)| *value));
            std::iter::once(*class).chain(args.iter().copied()).chain(held).collect()
        }
        New::Exception { class, args, attributes, context, cause, passed } => {
            let held = attributes.iter().map(|(_, value)| *value).chain(*context).chain(*cause);
            let inlined = passed.iter().filter_map(|passed| passed.inlined.as_ref());
            [*class, *args].into_iter().chain(held).chain(inlined.flat_map(InlinedFrame::held)).collect()
        }
        New::SequenceIterator { sequence, .. } => vec![*sequence],
        New::Call { callable, args, state } => {
            std::iter::once(*callable).chain(args.iter().copied()).chain(*state).collect()
        }
        New::Computed(number) => number.operands.to_vec(),
        New::Opaque(_) | New::Owned(_) => Vec::new(),
    }
}
