//! Changes to dicts and sets from outside by keys that hash or compare themselves in Python: side effects in order, by helpers that know the hash.
use crate::ffi::containers::{self, Kind};
use crate::ffi::key_hashes::{self, Change};
use crate::guard::source::Source;
use crate::guard::{Check, DomainCheck, NotEmpty};
use crate::trace::lifetime::finalisers::EndsSilently;
use crate::trace::operator::outside_entries::is_changed_by_c;
use crate::trace::operator::outside_hashes::{Found, Hashed, Met};
use crate::trace::state::guard_requests::GuardRequest;
use crate::trace::state::outcome::Effect;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

const WHERE: &str = "container from outside";

impl<'py> Tracer<'py> {
    /// What a method that changes an entry gives for such a key; `None`: it is another call.
    pub(super) fn change_by_hash(
        &mut self,
        name: &str,
        container: ValueId,
        key: ValueId,
        rest: &[ValueId],
    ) -> Traced<Option<ValueId>> {
        // Whoever goes through it sees that its size changes.
        if self.state.guard_requests.has_any(container, GuardRequest::GONE_THROUGH) {
            return Ok(None);
        }
        // A private copy can have such keys beside plain ones.
        if !self.is_unusual(container) && !self.has_entries_changed_by_hash(container) {
            return Ok(None);
        }
        let of = self.real(container).and_then(|object| containers::of(&object.get_type()));
        if !of.as_ref().is_some_and(is_changed_by_c) {
            return Ok(None);
        }
        if !self.is_hashed(container, key)? {
            return Ok(None);
        }
        // C does not hash the key where the dict is empty.
        if name == "pop" && self.length_after_changes(container).is_none_or(|length| length == 0) {
            return unsupported(WHERE, "pop() from an empty dict");
        }
        let effects = self.state.effects.len();
        let Some(hashed) = self.hashed(container, key)? else { return Ok(None) };
        let met = self.met(&hashed)?;
        if name == "pop" && met.found.is_none() && self.state.effects.len() > effects {
            self.rely_on_entries(&hashed)?;
        }
        match (name, rest, met.found) {
            ("__setitem__", [value], Some(found)) => self.replace(&hashed, met, found, *value)?,
            ("__setitem__", [value], None) => self.insert(&hashed, met, Some(*value))?,
            ("add", [], Some(_)) | ("discard", [], None) => {}
            ("add", [], None) => self.insert(&hashed, met, None)?,
            ("__delitem__" | "discard" | "remove", [], Some(found)) => self.take_out(&hashed, met, found)?,
            ("pop", [_] | [], Some(found @ Found { value: Some(value), .. })) => {
                self.take_out(&hashed, met, found)?;
                return Ok(Some(value));
            }
            ("pop", [default], None) => return Ok(Some(*default)),
            ("setdefault", [_] | [], Some(Found { value: Some(value), .. })) => return Ok(Some(value)),
            ("setdefault", [_] | [], None) => {
                let value = rest.first().copied().unwrap_or_else(|| self.none());
                self.insert(&hashed, met, Some(value))?;
                return Ok(Some(value));
            }
            ("__delitem__" | "remove" | "pop", [], None) => return self.raise_key_error(key),
            _ => return unsupported(WHERE, "a method that changes an entry"),
        }
        Ok(Some(self.none()))
    }

    /// C has hashed the key, whose `__hash__` has side effects, for the dict is not empty.
    fn rely_on_entries(&mut self, hashed: &Hashed<'py>) -> Traced<()> {
        if self.has_entries_changed_by_hash(hashed.container) {
            return unsupported(WHERE, "pop() of a key that is not there, whose __hash__ has side effects");
        }
        self.guard((*hashed.source).clone(), Check::Domain(Box::new(NotEmpty)), "the trace hashed a key");
        Ok(())
    }

    fn insert(&mut self, hashed: &Hashed<'py>, met: Met, value: Option<ValueId>) -> Traced<()> {
        self.require_alone(met, 0)?;
        if !self.has_lasting_hash(hashed.key) {
            return unsupported(WHERE, "a key whose hash may be another when compiled code makes it");
        }
        let is_set = hashed.of.kind == Kind::Set;
        self.note_hashed(hashed, if is_set { Change::InsertItem } else { Change::InsertEntry }, hashed.key, value)
    }

    fn replace(&mut self, hashed: &Hashed<'py>, met: Met, found: Found, value: ValueId) -> Traced<()> {
        self.require_alone(met, 1)?;
        self.require_silent_end(found.value)?;
        self.note_hashed(hashed, Change::ReplaceEntry, found.key, Some(value))
    }

    fn take_out(&mut self, hashed: &Hashed<'py>, met: Met, found: Found) -> Traced<()> {
        self.require_alone(met, 1)?;
        self.require_silent_end(found.value)?;
        self.require_silent_end(Some(found.key))?;
        self.note_hashed(hashed, Change::Remove, found.key, None)
    }

    /// Compiled code finds the entry by the identity of its key, or a place for it: no key may be compared on the way.
    fn require_alone(&self, met: Met, among: usize) -> Traced<()> {
        match met.among == among {
            true => Ok(()),
            false => unsupported(WHERE, "an entry is changed whose key has the hash of another"),
        }
    }

    /// What a container from outside no longer holds must be quiet at its end.
    fn require_silent_end(&mut self, held: Option<ValueId>) -> Traced<()> {
        let Some(held) = held else { return Ok(()) };
        let (Some(object), Some(source)) = (self.real(held), self.source(held)) else { return Ok(()) };
        if !matches!(&source, Source::Item(base, _) if matches!(**base, Source::WithHash(..))) {
            return Ok(());
        }
        if !EndsSilently::Altogether.holds(&object) {
            return unsupported(WHERE, "it lets go of an object whose end runs code");
        }
        self.guard(source, Check::Domain(Box::new(EndsSilently::Altogether)), "the trace let go of it");
        Ok(())
    }

    /// Takes back the side effects on such entries, for the container gets a copy; none where it has others, too.
    pub(crate) fn take_hashed_changes(&mut self, container: ValueId) -> Vec<Effect> {
        if !self.has_entries_changed_by_hash(container) || self.has_entries_changed_by_address(container) {
            return Vec::new();
        }
        let effects = std::mem::take(&mut *self.state.effects);
        let (changes, rest) = effects.into_iter().partition(|effect| self.is_hashed_change(effect, container));
        *self.state.effects = rest;
        changes
    }

    /// The copy has just been made: it gets what the trace has changed, in place of the container itself.
    pub(crate) fn repeat_hashed_changes(&mut self, container: ValueId, changes: Vec<Effect>) -> Traced<()> {
        let copy = self.state.private_copies.of(container).map(|copy| copy.object.bind(self.py).clone());
        for change in changes {
            let (Effect::Call { callable, args }, Some(copy)) = (change, copy.clone()) else { continue };
            let ([_, hash, key, rest @ ..], Some(function)) = (args.as_slice(), self.real(callable)) else {
                return internal("a change of an entry without a key");
            };
            let mut natives = vec![copy];
            natives.extend(self.real(*hash));
            natives.push(match self.key_of_copy(&natives[0], *hash, *key) {
                Some(held) => held,
                None => self.key_for_c(*key)?,
            });
            for value in rest {
                natives.push(self.stored(*value)?);
            }
            let done = PyTuple::new(self.py, natives).and_then(|natives| function.call1(natives));
            done.or_else(|error| internal(error.to_string()))?;
        }
        Ok(())
    }

    /// The key that the copy holds for the one that the container holds, which may be another value of the same object.
    fn key_of_copy(&mut self, copy: &Bound<'py, PyAny>, hash: ValueId, key: ValueId) -> Option<Bound<'py, PyAny>> {
        let wanted = self.real(key)?;
        let hash = self.real(hash)?.extract().ok()?;
        key_hashes::with_hash(copy, hash)?.into_iter().map(|held| held.key).find(|held| {
            let value = self.absorb(held.clone());
            self.real(value).is_some_and(|real| real.is(&wanted))
        })
    }

    fn note_hashed(
        &mut self,
        hashed: &Hashed<'py>,
        change: Change,
        key: ValueId,
        value: Option<ValueId>,
    ) -> Traced<()> {
        let callable = change.function(self.py).or_else(|error| internal(error.to_string()))?;
        let callable = self.constant(callable);
        let hash = self.integer(hashed.hash);
        self.state.aliases.changed.insert(hashed.container);
        let args = [Some(hashed.container), Some(hash), Some(key), value].into_iter().flatten().collect();
        self.state.effects.push(Effect::Call { callable, args });
        Ok(())
    }
}
