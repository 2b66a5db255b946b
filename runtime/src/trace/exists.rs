//! What the trace read must be there again, also where nothing else was asked of it: plain Python would raise otherwise.
use super::state::Tracer;
use super::value::Value;
use crate::guard::Check;
use crate::guard::source::Source;
use rustc_hash::FxHashSet;

impl Tracer<'_> {
    /// Guards every variable, attribute and entry that was read and that no other guard looks at.
    pub(super) fn guard_existence(&mut self) {
        let mut guarded = FxHashSet::default();
        guarded.reserve(self.state.guards.len() + self.state.values.len() / 2);
        let mut whole = FxHashSet::default();
        for guard in &self.state.guards {
            guarded.insert(&guard.source);
            if let Check::SameAs(other) | Check::NotSameAs(other) = &guard.check {
                guarded.insert(other);
            }
            if matches!(guard.check, Check::Keys(_)) {
                whole.insert(&guard.source);
            }
        }
        let mut missing = Vec::new();
        for value in &self.state.values {
            let Value::Real { source: Some(source), .. } = value else { continue };
            let read = match source {
                Source::DictItem(base, _) => !whole.contains(&**base),
                Source::Global(_) | Source::Builtin(_) | Source::Free(_) | Source::Cell(_) => true,
                Source::Attr(..) | Source::OwnAttr(..) => true,
                _ => false,
            };
            if read && guarded.insert(source) {
                missing.push(source.clone());
            }
        }
        for source in missing {
            self.guard(source, Check::Exists, "the trace read it");
        }
    }
}
