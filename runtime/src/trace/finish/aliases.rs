//! Changes to objects from outside: a change to one value shows in no other, so no other may be the same object.
use crate::guard::Check;
use crate::guard::source::Source;
use crate::trace::state::guard_requests::GuardRequest;
use crate::trace::state::outcome::Effect;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::Traced;
use crate::trace::state::value::{Value, ValueId, ValueSet};
use crate::trace::value::inputs_in_memory::InputsInMemory;
use pyo3::prelude::*;

impl<'py> Tracer<'py> {
    /// Paths to objects of several values that the trace has changed through one of them while it looked at another, or whose identity C
    /// has observed: the trace, as it is, may be wrong.
    pub(crate) fn parted(&self) -> Option<Vec<Source>> {
        let aliases = &self.state.aliases;
        if aliases.twins.is_empty() {
            return None;
        }
        let mut changed = self.changed_values();
        let copies = self.state.private_copies.iter().filter(|copy| copy.is_changed(self.py));
        copies.for_each(|copy| self.add_changed(copy.value, &mut changed));
        let mut parted = aliases.observed.clone();
        let mut objects: Vec<_> = aliases.twins.iter().map(|(first, _)| *first).collect();
        objects.dedup();
        for first in objects {
            let values = std::iter::once(first).chain(aliases.of(first));
            let seen: Vec<_> = values.filter(|value| changed.contains(*value) || self.is_looked_at(*value)).collect();
            if seen.len() > 1 && seen.iter().any(|value| changed.contains(*value)) {
                parted.extend(seen);
            }
        }
        (!parted.is_empty()).then(|| parted.into_iter().filter_map(|value| self.source(value)).collect())
    }

    /// Guards that what the trace has changed is no other object of the same type that it looked at.
    pub(crate) fn guard_changed(&mut self) {
        let changed = self.changed_values();
        let all = (0..self.state.values.len() as u32).map(ValueId);
        let looked_at: Vec<_> = all.filter(|value| self.real(*value).is_some() && self.is_looked_at(*value)).collect();
        let mut told = ValueSet::default();
        for value in changed.iter() {
            told.insert(value);
            for other in looked_at.iter().filter(|other| !told.contains(**other)) {
                if self.may_be_one(value, *other) {
                    self.guard_identity(value, *other, "the trace changed one of two objects");
                }
            }
        }
    }

    /// Guards that what the trace looked at follows no object that is another one to gradients from then on, as none does now.
    pub(crate) fn guard_kin(&mut self) {
        let mut changed: Vec<_> = self.state.examples.keys().copied().collect();
        changed.retain(|value| self.real(*value).is_some() && self.source(*value).is_some());
        let Some(domain) = changed.first().and_then(|first| self.domain_of(&self.real(*first)?.get_type())) else {
            return;
        };
        changed.sort_unstable();
        let is_other = |value: &ValueId| {
            let object = self.real(*value).filter(|_| self.is_looked_at(*value) && !changed.contains(value));
            object.is_some_and(|object| self.domain_of(&object.get_type()).is_some_and(|of| of.name() == domain.name()))
        };
        let others: Vec<_> = (0..self.state.values.len() as u32).map(ValueId).filter(is_other).collect();
        let is_fixed = |value: ValueId| self.state.guard_requests.has_any(value, GuardRequest::IS);
        let objects: Vec<_> = changed.iter().filter_map(|value| Some((self.real(*value)?, is_fixed(*value)))).collect();
        let Some(check) = domain.kin_guard(&objects).filter(|_| !others.is_empty()) else { return };
        let sources = changed.iter().chain(&others).filter_map(|value| self.source(*value)).collect();
        self.guard(Source::Together(sources), Check::Domain(check), "the graph makes another leaf of one");
    }

    /// Guards that the inputs of a graph which changes some of them share memory as they do now: a backend may rely on that.
    pub(crate) fn guard_memory(&mut self) -> Traced<()> {
        if !self.state.backend || self.state.changed_by_graph.is_empty() || self.state.inputs.len() < 2 {
            return Ok(());
        }
        let InputsInMemory { objects, sources, are_marked: changed } = self.inputs_by_change();
        let domain = objects.first().and_then(|object| self.domain_of(&object.get_type()));
        let open = !self.state.numbers.layouts.is_empty();
        if open && domain.as_ref().is_some_and(|domain| domain.share_memory(&objects, &changed)) {
            // Where inputs end decides what they share.
            return self.fix_sizes(self.state.numbers.layouts.keys().copied().collect());
        }
        if let Some(check) = domain.and_then(|domain| domain.memory_guard(&objects, &changed, open)) {
            self.guard(Source::Together(sources.into()), Check::Domain(check), "the graph changes inputs in place");
        }
        Ok(())
    }

    /// Whether two values, which are two objects now, could be one at another call, as far as other guards go.
    pub(crate) fn may_be_one(&self, changed: ValueId, other: ValueId) -> bool {
        let (Some(one), Some(object)) = (self.real(changed), self.real(other)) else { return false };
        let requests = &self.state.guard_requests;
        one.get_type().is(object.get_type())
            && self.is_looked_at(other)
            && !(requests.has_any(changed, GuardRequest::IS) && requests.has_any(other, GuardRequest::IS))
    }

    /// Whether what the trace does depends on the contents of an object, or on its class: else it is passed on as it is.
    pub(crate) fn is_looked_at(&self, value: ValueId) -> bool {
        const LOOKS: GuardRequest = GuardRequest::LOOKS_AT_IT.union(GuardRequest::CLASS);
        self.state.guard_requests.has_any(value, LOOKS)
            || self.state.cells.contains_key(&value)
            || matches!(self.value(value), Value::Real { source: None, .. })
    }

    /// Objects from outside that the trace has changed so far, but for private copies that C changed behind its back.
    pub(crate) fn changed_values(&self) -> ValueSet {
        let mut changed = self.changed_by(|_| true);
        // To gradients, these are others than they were.
        self.state.examples.keys().for_each(|value| self.add_changed(*value, &mut changed));
        changed
    }

    /// Those whose entries or attributes have changed: what C holds for a value of a domain is no attribute of its own.
    pub(super) fn changed_holders(&self) -> ValueSet {
        self.changed_by(|effect| {
            let Effect::SetAttr { object, name, .. } = effect else { return true };
            let Some(real) = self.real(*object) else { return true };
            !self.domain_of(&real.get_type()).is_some_and(|domain| domain.holds(&real, name))
        })
    }

    fn changed_by(&self, counts: impl Fn(&Effect) -> bool) -> ValueSet {
        let mut changed = ValueSet::default();
        for effect in self.state.effects.iter().filter(|effect| counts(effect)) {
            if let Some(value) = receiver(effect) {
                self.add_changed(value, &mut changed);
            }
        }
        self.state.aliases.changed.iter().for_each(|value| self.add_changed(value, &mut changed));
        changed
    }

    /// Whoever has the `__dict__` that was changed is changed with it.
    fn add_changed(&self, value: ValueId, changed: &mut ValueSet) {
        if self.real(value).is_some() {
            changed.insert(value);
        }
        let owners = self.state.seen_whole.iter().filter(|(_, dict)| **dict == value);
        owners.for_each(|(owner, _)| {
            changed.insert(*owner);
        });
    }
}

/// The object that an effect changes.
fn receiver(effect: &Effect) -> Option<ValueId> {
    match effect {
        Effect::SetAttr { object, .. }
        | Effect::DelAttr { object, .. }
        | Effect::SetItem { object, .. }
        | Effect::DelItem { object, .. } => Some(*object),
        Effect::ReplaceList { list, .. } => Some(*list),
        Effect::SetGlobal { globals, .. } | Effect::DelGlobal { globals, .. } => Some(*globals),
        Effect::SetCell { cell, .. } => Some(*cell),
        Effect::Call { args, .. } => args.first().copied(),
    }
}
