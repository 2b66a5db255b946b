//! Keys that hash or compare themselves in Python, looked for in dicts and sets from outside: the trace goes the way of C through the table.
//!
//! The key is hashed once, in the trace. Guards ask for the entries that the table has for this hash, in the order in which C meets them, and the
//! trace compares the key with these. What the trace has changed of such entries is what its side effects say.
use crate::ffi::containers::{self, Container, Kind};
use crate::ffi::key_hashes::{self, Change};
use crate::ffi::types;
use crate::guard::source::{Side, Source};
use crate::guard::{Check, KeptUnderHash};
use crate::stored::ProcessBound;
use crate::trace::operator::keys::by_address::is_hashed_by_address;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::outcome::Effect;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal, unsupported};
use crate::trace::state::value::{Value, ValueId};
use crate::trace::value::kinds::is_key;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyWeakrefReference};
use std::sync::Arc;

const WHERE: &str = "container from outside";

/// A dict or set from outside, and a key that the trace has hashed.
pub(super) struct Hashed<'py> {
    pub(super) container: ValueId,
    pub(super) object: Bound<'py, PyAny>,
    pub(super) source: Arc<Source>,
    pub(super) of: Container<'py>,
    pub(super) key: ValueId,
    pub(super) hash: isize,
}

/// What C meets where it looks for the key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Met {
    /// What there is for it.
    pub(super) found: Option<Found>,
    /// How many keys of this hash there are.
    pub(super) among: usize,
}

/// An entry for the key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    /// The key that the container holds.
    pub(super) key: ValueId,
    /// What a dict holds for it.
    pub(super) value: Option<ValueId>,
}

/// What side effects of the trace say of a key.
#[derive(Clone, Copy, Debug)]
struct Changed {
    key: ValueId,
    value: Option<ValueId>,
    is_there: bool,
}

impl<'py> Tracer<'py> {
    /// What an operator of C gives for such a key; `None`: the key is another, or the container.
    pub(super) fn read_by_hash(
        &mut self,
        operator: &str,
        container: ValueId,
        key: ValueId,
        default: Option<ValueId>,
    ) -> Traced<Option<ValueId>> {
        let is_dict = self.real(container).is_some_and(|object| object.is_instance_of::<PyDict>());
        if !is_dict && operator != "contains" {
            return Ok(None);
        }
        let Some(hashed) = self.hashed(container, key)? else { return Ok(None) };
        let met = self.met(&hashed)?.found;
        match (operator, met) {
            ("contains", met) => Ok(Some(self.boolean(met.is_some()))),
            (_, Some(met)) => met.value.map_or_else(|| internal("an entry without a value"), |value| Ok(Some(value))),
            ("get", None) => Ok(Some(default.unwrap_or_else(|| self.none()))),
            (_, None) => self.missing_entry(&hashed).map(Some),
        }
    }

    /// `container[key]` of a key that is not there. CPython: `dict_subscript`.
    fn missing_entry(&mut self, hashed: &Hashed<'py>) -> Traced<ValueId> {
        if hashed.object.is_exact_instance_of::<PyDict>() {
            return self.raise_key_error(hashed.key);
        }
        match self.special(hashed.container, "__missing__")? {
            Some(missing) => self.call(missing, Arguments::positional(vec![hashed.key])),
            None => self.raise_key_error(hashed.key),
        }
    }

    /// Whether they are such a container and such a key.
    pub(super) fn is_hashed(&mut self, container: ValueId, key: ValueId) -> Traced<bool> {
        let copied = self.state.private_copies.of(container).is_some() || self.is_namespace(container);
        let object = self.real(container).filter(|_| !copied && self.source(container).is_some());
        let Some((object, of)) = object.and_then(|object| Some((object.clone(), containers::of(&object.get_type())?)))
        else {
            return Ok(false);
        };
        let has_hashes = matches!(of.kind, Kind::Dict | Kind::OrderedDict | Kind::Set | Kind::FrozenSet);
        Ok(has_hashes && self.hashes_by_itself(container, &object, key)?)
    }

    /// Such a container, and such a key with its hash.
    pub(super) fn hashed(&mut self, container: ValueId, key: ValueId) -> Traced<Option<Hashed<'py>>> {
        if !self.is_hashed(container, key)? {
            return Ok(None);
        }
        let class = self.class_of(container)?;
        let (Some(object), Some(source), Some(of)) =
            (self.real(container), self.source(container), containers::of(&class))
        else {
            return Ok(None);
        };
        self.rely_on_class(&class);
        let hash = self.hash_of_key(key)?;
        Ok(Some(Hashed { container, object, source: Arc::new(source), of, key, hash }))
    }

    /// Whether C asks code of Python for the hash of the key, or may compare it with a key that asks such code.
    fn hashes_by_itself(&mut self, container: ValueId, object: &Bound<'py, PyAny>, key: ValueId) -> Traced<bool> {
        if matches!(self.value(key), Value::Node { .. }) || self.is_id(key) || self.any_weak(&[key]) {
            return Ok(false);
        }
        let class = self.class_of(key)?;
        let is_other = key_hashes::is_unhashable(&class)
            || is_hashed_by_address(&class)
            || types::is_subtype(&class, &self.py.get_type::<PyWeakrefReference>())
            || self.domain_of(&class).is_some();
        if is_other {
            return Ok(false);
        }
        if let Some(known) = self.known(key).filter(is_key) {
            let Some((hash, met)) =
                known.hash().ok().and_then(|hash| Some((hash, key_hashes::with_hash(object, hash)?)))
            else {
                return Ok(false);
            };
            return Ok(met.iter().any(|held| !is_key(&held.key)) || !self.changed_by_hash(container, hash).is_empty());
        }
        Ok(!types::is_c_type(&class) || self.is_unusual(container))
    }

    fn hash_of_key(&mut self, key: ValueId) -> Traced<isize> {
        let own = self.state.hashed_own;
        let hash = self.hash(key);
        if let Err(signal) = &hash
            && cfg!(Py_3_14)
            && self.raised_is(signal, "TypeError")?
        {
            return unsupported(WHERE, "a key that cannot be hashed");
        }
        let hash = hash?;
        if self.state.hashed_own != own {
            return unsupported("hash by address", "an object that the trace made");
        }
        self.note_bound(ProcessBound::Process);
        Ok(hash)
    }

    /// Looks for the key as C does; guards say what was met.
    pub(super) fn met(&mut self, hashed: &Hashed<'py>) -> Traced<Met> {
        let Some(table) = key_hashes::with_hash(&hashed.object, hashed.hash) else {
            return unsupported(WHERE, "its table cannot be read");
        };
        self.refuse_key_under_another_hash(hashed)?;
        let of = |side| Arc::new(Source::WithHash(Arc::clone(&hashed.source), hashed.hash, side));
        let (keys, values) = (of(Side::Keys), of(Side::Values));
        let changed = self.changed_by_hash(hashed.container, hashed.hash);
        let mut entries: Vec<(ValueId, Option<usize>)> = Vec::new();
        for (index, held) in table.iter().enumerate() {
            // C may meet an entry again on its way.
            let before = table[..index].iter().position(|met| met.key.is(&held.key));
            let key = match before {
                Some(before) => entries[before].0,
                None => self.sourced(held.key.clone(), Source::Item(Arc::clone(&keys), index)),
            };
            entries.push((key, Some(index)));
        }
        for change in &changed {
            if !entries.iter().any(|(key, _)| *key == change.key) {
                entries.push((change.key, None));
            }
        }
        let is_there =
            |key: ValueId| changed.iter().rev().find(|change| change.key == key).is_none_or(|change| change.is_there);
        entries.retain(|(key, _)| is_there(*key));
        let mut present: Vec<_> = entries.iter().map(|(key, _)| *key).collect();
        present.sort_unstable();
        present.dedup();
        if !changed.is_empty() && present.len() > 1 {
            return unsupported(WHERE, "the trace has changed one of several keys of one hash");
        }
        let among = present.len();
        for (key, index) in entries {
            let change = changed.iter().rev().find(|change| change.key == key);
            if !self.is_equal_key(hashed, key)? {
                continue;
            }
            let value = match (change.and_then(|change| change.value), index) {
                (Some(value), _) => Some(value),
                (None, Some(index)) => table[index].value.clone().map(|value| {
                    let path = Source::Item(Arc::clone(&values), index);
                    self.sourced(value, path)
                }),
                (None, None) => None,
            };
            return Ok(Met { found: Some(Found { key, value }), among });
        }
        self.guard((*keys).clone(), Check::Length(table.len()), "the trace looked for a key");
        Ok(Met { found: None, among })
    }

    /// CPython: `PyObject_RichCompareBool`. The comparison must leave the container as it is.
    fn is_equal_key(&mut self, hashed: &Hashed<'py>, held: ValueId) -> Traced<bool> {
        if held == hashed.key || self.is(held, hashed.key)? {
            return Ok(true);
        }
        let effects = self.state.effects.len();
        let equal = self.operator("eq", &[held, hashed.key])?;
        let equal = self.is_true(equal)?;
        let is_changed = self.state.private_copies.of(hashed.container).is_some()
            || self.state.effects[effects..].iter().any(|effect| is_on(effect, hashed.container));
        if is_changed { unsupported(WHERE, "a comparison of keys changes it") } else { Ok(equal) }
    }

    /// C finds an object in a dict by its identity, too, where its hash has changed since.
    fn refuse_key_under_another_hash(&mut self, hashed: &Hashed<'py>) -> Traced<()> {
        let Some((key, path)) = self.real(hashed.key).zip(self.source(hashed.key)) else { return Ok(()) };
        if !matches!(hashed.of.kind, Kind::Dict | Kind::OrderedDict) {
            return Ok(());
        }
        if key_hashes::is_met_under_another_hash(&hashed.object, &key, hashed.hash) {
            return unsupported(WHERE, "a key whose hash has changed");
        }
        let both: Arc<[Source]> = vec![(*hashed.source).clone(), path].into();
        let check = Check::Domain(Box::new(KeptUnderHash(hashed.hash)));
        self.guard(Source::Together(both), check, "the trace looked for a key");
        Ok(())
    }

    /// What side effects of the trace say of keys of this hash, the last ones last.
    fn changed_by_hash(&self, container: ValueId, hash: isize) -> Vec<Changed> {
        let changes = self.state.effects.iter().filter_map(|effect| self.hashed_effect(effect, container));
        changes.filter(|(of, _, _)| *of == hash).map(|(_, _, changed)| changed).collect()
    }

    /// The hash, the change and what it says, if the side effect is one on such an entry of this container.
    fn hashed_effect(&self, effect: &Effect, container: ValueId) -> Option<(isize, Change, Changed)> {
        let Effect::Call { callable, args } = effect else { return None };
        let [to, hash, key, rest @ ..] = args.as_slice() else { return None };
        if *to != container {
            return None;
        }
        let change = Change::of(&self.real(*callable)?)?;
        let hash = self.real(*hash)?.extract().ok()?;
        let value = rest.first().copied();
        Some((hash, change, Changed { key: *key, value, is_there: change != Change::Remove }))
    }

    /// Whether the side effect is a change of an entry of this container by its hash.
    pub(super) fn is_hashed_change(&self, effect: &Effect, container: ValueId) -> bool {
        self.hashed_effect(effect, container).is_some()
    }

    /// How many entries the container has now.
    pub(super) fn length_after_changes(&self, container: ValueId) -> Option<usize> {
        let length = containers::builtin_length(&self.real(container)?)?;
        let change = |effect| match self.hashed_effect(effect, container) {
            Some((_, Change::InsertEntry | Change::InsertItem, _)) => 1,
            Some((_, Change::Remove, _)) => -1,
            _ => 0,
        };
        let changes: isize = self.state.effects.iter().map(change).sum();
        length.checked_add_signed(changes + self.growth_by_address(container))
    }

    /// Whether the trace has changed entries of the container by their hashes.
    pub(super) fn has_entries_changed_by_hash(&self, container: ValueId) -> bool {
        self.state.effects.iter().any(|effect| self.hashed_effect(effect, container).is_some())
    }
}

fn is_on(effect: &Effect, container: ValueId) -> bool {
    match effect {
        Effect::Call { args, .. } => args.first() == Some(&container),
        Effect::SetItem { object, .. } | Effect::DelItem { object, .. } => *object == container,
        _ => false,
    }
}
