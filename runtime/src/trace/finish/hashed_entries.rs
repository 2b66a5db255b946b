//! Entries of dicts and sets by keys that hash themselves in Python: compiled code sets, deletes and makes them with the hashes that the trace knows.
use crate::ffi::key_hashes::{self, Change, Held};
use crate::guard::source::Source;
use crate::guard::{Check, DomainCheck};
use crate::stored::ProcessBound;
use crate::trace::lifetime::finalisers::EndsSilently;
use crate::trace::state::materialised::Materialised;
use crate::trace::state::outcome::Effect;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal};
use crate::trace::state::value::{New, ValueId};
use crate::trace::value::kinds::is_scalar;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

impl<'py> Tracer<'py> {
    /// The hashes of a dict's keys before and after a trace, by their addresses, if any of them hashes itself.
    pub(crate) fn own_hashes(
        &mut self,
        object: ValueId,
        now: &Bound<'py, PyDict>,
        then: &Bound<'py, PyDict>,
    ) -> Materialised<FxHashMap<usize, isize>> {
        let keys = now.keys().iter().chain(then.keys()).filter(|key| !is_scalar(key));
        if !now.is_exact_instance_of::<PyDict>()
            || !self.absorb_all(keys).into_iter().any(|key| self.hashes_itself(key))
        {
            return Ok(Ok(FxHashMap::default()));
        }
        let held = key_hashes::all(now).zip(key_hashes::all(then));
        let held = held.map(|(now, then)| then.into_iter().chain(now));
        let Some(held) = held else { return internal("the table of a dict cannot be read") };
        let mut seen = FxHashSet::default();
        let held: Vec<_> = held.filter(|held| seen.insert(held.key.as_ptr() as usize)).collect();
        let keys = self.absorb_all(held.iter().map(|held| held.key.clone()));
        if !key_hashes::are_distinct(&held)
            || self.state.hashed_own > 0
            || !keys.into_iter().all(|key| self.has_lasting_hash(key))
        {
            return Ok(Err(
                self.before_change(object, "a key with a __hash__ or __eq__ of its own in a container from outside")
            ));
        }
        Ok(Ok(held.into_iter().map(|Held { key, hash, .. }| (key.as_ptr() as usize, hash)).collect()))
    }

    /// At the end of the trace an entry is set, or deleted; its key has this hash.
    pub(crate) fn set_hashed_entry(
        &mut self,
        object: ValueId,
        key: ValueId,
        hash: isize,
        value: Option<ValueId>,
    ) -> Traced<()> {
        self.note_bound(ProcessBound::Process);
        let change = if value.is_some() { Change::InsertEntry } else { Change::Remove };
        let callable = change.function(self.py).or_else(|error| internal(error.to_string()))?;
        let (callable, hash) = (self.constant(callable), self.integer(hash));
        let args = [Some(object), Some(hash), Some(key), value].into_iter().flatten().collect();
        self.state.effects.push(Effect::Call { callable, args });
        Ok(())
    }

    /// Keys that a dict or set from outside no longer holds must be quiet at their end.
    pub(crate) fn guard_removed_keys(
        &mut self,
        container: ValueId,
        now: &Bound<'py, PyAny>,
        then: &Bound<'py, PyAny>,
    ) -> Traced<()> {
        let keys = |object| crate::ffi::containers::keys(object).ok();
        let (Some(source), Some(now), Some(then)) = (self.source(container), keys(now), keys(then)) else {
            return Ok(());
        };
        let left: FxHashSet<usize> = now.iter().map(|key| key.as_ptr() as usize).collect();
        let path = Arc::new(Source::Keys(Arc::new(source)));
        for (index, key) in then.iter().enumerate() {
            if left.contains(&(key.as_ptr() as usize)) {
                continue;
            }
            let key = self.absorb(key);
            if self.hashes_itself(key) {
                let check: Box<dyn DomainCheck> = Box::new(EndsSilently::Altogether);
                self.guard(Source::Item(Arc::clone(&path), index), Check::Domain(check), "the trace let go of it");
            }
        }
        Ok(())
    }

    /// A dict that the trace made, whose keys hash themselves: compiled code fills it with the hashes.
    pub(crate) fn materialise_hashed_dict(
        &mut self,
        id: ValueId,
        dict: &Bound<'py, PyDict>,
    ) -> Materialised<Vec<ValueId>> {
        let held = key_hashes::all(dict).filter(|held| key_hashes::are_distinct(held)).unwrap_or_default();
        let mut entries = Vec::new();
        for Held { hash, key, value } in held {
            let (key, value) = (self.absorb(key), value.map(|value| self.absorb(value)));
            if !self.has_lasting_hash(key) {
                break;
            }
            entries.extend(value.map(|value| (hash, key, value)));
        }
        if entries.len() != dict.len() || self.state.hashed_own > 0 {
            return self.escape(id, "a container of keys with a __hash__ or __eq__ of their own");
        }
        self.note_bound(ProcessBound::Process);
        let children = entries.iter().flat_map(|(_, key, value)| [*key, *value]).collect();
        self.set(id, New::HashedDict(entries), children)
    }
}
