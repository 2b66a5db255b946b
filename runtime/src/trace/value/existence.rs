//! Guards that what the trace read is there again, where no other guard asks for it: plain Python would raise otherwise.
use crate::guard::Check;
use crate::guard::source::Source;
use crate::trace::state::guard_requests::GuardRequest;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::value::{Value, ValueId};
use rustc_hash::FxHashSet;

impl Tracer<'_> {
    /// Where the value was read, if no guard of its own looks there.
    fn unguarded<'a>(&self, id: usize, value: &'a Value) -> Option<&'a Source> {
        let Value::Real { source: Some(source), .. } = value else { return None };
        (is_read(source) && !self.state.guard_requests.has_any(ValueId(id as u32), GuardRequest::LOOKS_AT_IT))
            .then_some(source)
    }

    /// Guards every variable, attribute and entry that was read and that no other guard looks at.
    pub(crate) fn guard_existence(&mut self) {
        let values = self.state.values.iter().enumerate();
        let read: Vec<_> = values.filter_map(|(id, value)| self.unguarded(id, value)).collect();
        if read.is_empty() {
            return;
        }
        let mut guard_requests = FxHashSet::default();
        guard_requests.reserve(self.state.guards.len() + read.len());
        let mut whole = FxHashSet::default();
        for guard in &self.state.guards {
            if is_read(&guard.source) {
                guard_requests.insert(&guard.source);
            }
            if let Check::SameAs(other) | Check::NotSameAs(other) = &guard.check {
                guard_requests.insert(other);
            }
            if matches!(guard.check, Check::Keys(_)) {
                whole.insert(&guard.source);
            }
        }
        let mut missing = Vec::new();
        for source in read {
            let with_base =
                matches!(source, Source::DictItem(base, _) | Source::OwnEntry(base, _) if whole.contains(&**base));
            if !with_base && guard_requests.insert(source) {
                missing.push(source.clone());
            }
        }
        for source in missing {
            self.guard(source, Check::Exists, "the trace read it");
        }
    }
}

fn is_read(source: &Source) -> bool {
    matches!(
        source,
        Source::DictItem(..)
            | Source::OwnEntry(..)
            | Source::EntryFor(..)
            | Source::Referent(..)
            | Source::WeakReferent(..)
            | Source::Global(_)
            | Source::Builtin(_)
            | Source::Free(_)
            | Source::Cell(_)
            | Source::ContextValue(_)
            | Source::Attr(..)
            | Source::OwnAttr(..)
    ) || matches!(source, Source::Item(base, _) if matches!(**base, Source::Ahead(..) | Source::Drawn(..) | Source::WithHash(..)))
}
