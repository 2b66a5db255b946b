//! Strong references between the values of a trace, from the frame and from all that outlives it.
use crate::guard::source::Source;
use crate::trace::state::frame::Frame;
use crate::trace::state::generator::GeneratorObject;
use crate::trace::state::outcome::{Effect, StackEntry};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::value::{New, Value, ValueId, ValueSet};
use crate::trace::value::finalisable::strongly_held;
use pyo3::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

/// Objects that one search for a way to them visits.
pub(crate) const MAX_VISITED: usize = 5_000;

impl<'py> Tracer<'py> {
    /// References that the trace itself has to an object from outside.
    pub(crate) fn references_to(&self, address: usize) -> usize {
        let first = self.state.identity.get(&address).copied();
        let twins = first.map_or(0, |first| self.state.aliases.of(first).count());
        let value = first.map(|value| self.value(value));
        let is_it = |value: &Value| matches!(value, Value::Real { object, .. } if object.as_ptr() as usize == address);
        let finalisers = self.state.finalisers.objects.iter().filter(|object| object.as_ptr() as usize == address);
        usize::from(value.is_some_and(is_it)) + twins + finalisers.count()
    }

    /// Whether the frame itself holds each of the objects.
    pub(crate) fn holds_all(&self, frame: &Frame) -> bool {
        self.state.finalisers.objects.iter().all(|object| {
            let value = self.state.identity.get(&(object.as_ptr() as usize));
            value.is_some_and(|value| {
                matches!(self.value(*value), Value::Real { .. })
                    && (frame.locals.contains(&Some(*value)) || frame.stack.contains(&StackEntry::Object(*value)))
            })
        })
    }

    pub(crate) fn held_by(&self, frame: &Frame) -> Vec<ValueId> {
        let stack = frame.stack.iter().filter_map(|entry| match entry {
            StackEntry::Object(value) => Some(*value),
            StackEntry::Null | StackEntry::Callee => None,
        });
        let locals = frame.locals.iter().flatten().copied();
        let others = frame.closure.iter().copied().chain(frame.namespace).chain(*self.state.exc_info);
        stack.chain(locals).chain(others).chain(self.state.exc_below.iter().flatten().copied()).collect()
    }

    pub(crate) fn first_lost(&self, work: Vec<ValueId>) -> Option<Bound<'py, PyAny>> {
        let alive = self.reached(work);
        let lost = self.state.finalisers.objects.iter().find(|object| !alive.contains(&(object.as_ptr() as usize)));
        lost.map(|object| object.bind(self.py).clone())
    }

    /// Addresses of the objects to which strong references lead from these values and from what outlives the trace.
    pub(crate) fn reached(&self, mut work: Vec<ValueId>) -> FxHashSet<usize> {
        let wanted: FxHashSet<usize> =
            self.state.finalisers.objects.iter().map(|object| object.as_ptr() as usize).collect();
        work.extend(self.outliving());
        let attributes = self.attributes_by_owner();
        let (mut objects, mut values, mut visited) = (Vec::new(), ValueSet::default(), FxHashSet::default());
        let mut missing = wanted.len();
        while visited.len() < MAX_VISITED && missing > 0 {
            if let Some(object) = objects.pop() {
                let object: Bound<'py, PyAny> = object;
                let address = object.as_ptr() as usize;
                match self.value_of_proxy(&object).or_else(|| self.state.identity.get(&address).copied()) {
                    Some(value) if !values.contains(value) => work.push(value),
                    _ if visited.insert(address) => {
                        missing -= usize::from(wanted.contains(&address));
                        objects.extend(strongly_held(&object));
                    }
                    _ => {}
                }
                continue;
            }
            let Some(value) = work.pop() else { break };
            if values.insert(value) {
                objects.extend(self.object_of(value));
                work.extend(self.parts_of(value));
                work.extend(attributes.get(&value).into_iter().flatten());
            }
        }
        visited
    }

    /// What attributes hold, as far as the trace knows, by the object that has them.
    pub(super) fn attributes_by_owner(&self) -> FxHashMap<ValueId, Vec<ValueId>> {
        let mut attributes: FxHashMap<ValueId, Vec<ValueId>> = FxHashMap::default();
        for ((owner, _), value) in self.state.attributes.iter() {
            attributes.entry(*owner).or_default().extend(value);
        }
        attributes
    }

    /// Values that places outside hold, or will hold.
    pub(crate) fn outliving(&self) -> Vec<ValueId> {
        let sources: FxHashMap<_, _> = self
            .state
            .private_copies
            .iter()
            .filter_map(|private_copy| Some((self.source(private_copy.value)?, private_copy.value)))
            .collect();
        let private_copies: Vec<_> = sources.iter().filter(|(source, _)| !is_within(source, &sources)).collect();
        let private_copies = private_copies.into_iter().map(|(_, value)| *value);
        let globals = self.state.globals.values().chain(self.state.cells.values()).flatten().copied();
        let effects = self.state.effects.iter().flat_map(|effect| match effect {
            Effect::SetItem { key, value, .. } => vec![*key, *value],
            Effect::Call { args, .. } => args.clone(),
            _ => Vec::new(),
        });
        private_copies.chain(globals).chain(effects).chain(self.state.contexts.values()).collect()
    }

    /// The object that stands for a value: of a container that C works on, the copy.
    pub(crate) fn object_of(&self, value: ValueId) -> Option<Bound<'py, PyAny>> {
        if let Some(private_copy) = self.state.private_copies.of(value) {
            return Some(private_copy.object.bind(self.py).clone());
        }
        self.at_hand(value)
    }

    /// Values that a value of the tracer's own is made of.
    pub(crate) fn parts_of(&self, value: ValueId) -> Vec<ValueId> {
        let mut parts = match self.value(value) {
            Value::New(New::Method { function, receiver }) => vec![*function, *receiver],
            Value::New(new) => new.items(),
            _ => Vec::new(),
        };
        let reference = self.owned(value).and_then(|object| self.referent(&object));
        parts.extend(reference.and_then(|(_, callback)| callback));
        parts.extend(self.state.supers.get(&value).map(|(_, receiver)| *receiver));
        match self.state.generators.get(&value) {
            Some(GeneratorObject::Frame(generator)) => {
                parts.extend(generator.frame.iter().flat_map(|frame| self.held_by(frame)))
            }
            Some(GeneratorObject::Wrapper(held) | GeneratorObject::Wrapped(held)) => parts.push(*held),
            Some(GeneratorObject::Send { generator, .. } | GeneratorObject::Throw { generator, .. }) => {
                parts.push(*generator)
            }
            None => {}
        }
        parts
    }
}

/// Whether the path leads through an argument or another of the containers: then that one must be found first.
pub(crate) fn is_within(source: &Source, containers: &FxHashMap<Source, ValueId>) -> bool {
    match source {
        Source::Item(base, _)
        | Source::ItemFromEnd(base, _)
        | Source::DictItem(base, _)
        | Source::OwnItem(base, ..)
        | Source::OwnEntry(base, _)
        | Source::EntryFor(base, _) => source.is_argument() || containers.contains_key(&**base),
        _ => source.is_argument(),
    }
}
