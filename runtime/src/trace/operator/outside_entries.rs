//! Changes to sets and dicts from outside by keys that C hashes by their address and compares by their identity, and by weak references to such
//! objects, which C hashes and compares as these: they are side effects in order, and guards ask whether such a key is there, and for nothing else.
//!
//! What the trace has changed is what its side effects say. Where it looks at such a container as a whole after that, the trace ends.
use crate::ffi::containers::{self, Container, Kind};
use crate::ffi::{key_hashes, types, weak_references};
use crate::guard::source::Source;
use crate::guard::{Check, DomainCheck};
use crate::trace::lifetime::finalisers::EndsSilently;
use crate::trace::operator::keys::by_address::held_for;
use crate::trace::state::guard_requests::GuardRequest;
use crate::trace::state::outcome::Effect;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal, unsupported};
use crate::trace::state::value::{New, Value, ValueId};
use generated::slots::Slot;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PySet, PyTuple, PyType};
use std::sync::Arc;

/// Methods that change one entry.
const CHANGES: [&str; 7] = ["__setitem__", "__delitem__", "pop", "setdefault", "add", "discard", "remove"];

/// The side effects that say what has become of an entry: the method of the C class, and whether it is there after that.
const EFFECTS: [(&str, bool); 4] = [("__setitem__", true), ("__delitem__", false), ("add", true), ("discard", false)];

/// Such a container and one of its keys.
struct Entry<'py> {
    container: ValueId,
    of: Container<'py>,
    key: ValueId,
    /// The object whose address is hashed: the key, or what the key refers to.
    hashed: ValueId,
}

/// How many entries of one container a trace changes: guards tell their keys from one another.
const MOST_CHANGES: usize = 64;

/// What is there for a key: the value of a dict's entry, the key itself of a set's.
type Held = Option<ValueId>;

impl<'py> Tracer<'py> {
    /// What a method that changes an entry of such a container gives; `None`: it is another call.
    pub(crate) fn change_entry(
        &mut self,
        name: &str,
        owner: &Bound<'py, PyType>,
        args: &[ValueId],
    ) -> Traced<Option<ValueId>> {
        let ([container, key, rest @ ..], true) = (args, CHANGES.contains(&name)) else { return Ok(None) };
        let of_class = owner.is(self.py.get_type::<PyDict>()) || owner.is(self.py.get_type::<PySet>());
        if !of_class {
            return Ok(None);
        }
        let Some(entry) = self.keyed_entry(*container, *key)? else {
            return self.change_by_hash(name, *container, *key, rest);
        };
        let held = self.held(&entry)?;
        match (name, rest, held) {
            ("__setitem__", [value], _) => self.store(&entry, held, *value)?,
            ("__delitem__", [], Some(_)) => self.remove(&entry, "__delitem__", held)?,
            ("pop", [_] | [], Some(value)) => {
                self.remove(&entry, "__delitem__", held)?;
                return Ok(Some(value));
            }
            ("pop", [default], None) => return Ok(Some(*default)),
            ("setdefault", [_] | [], Some(value)) => return Ok(Some(value)),
            ("setdefault", [_] | [], None) => {
                let value = rest.first().copied().unwrap_or_else(|| self.none());
                self.store(&entry, None, value)?;
                return Ok(Some(value));
            }
            ("add", [], Some(_)) | ("discard", [], None) => {}
            ("add", [], None) => self.note_entry(&entry, "add", None)?,
            ("discard" | "remove", [], Some(_)) => self.remove(&entry, "discard", held)?,
            _ => return Ok(None),
        }
        Ok(Some(self.none()))
    }

    /// The same for `container[key] = value` and `del container[key]`; whether it was done.
    pub(crate) fn change_item(&mut self, container: ValueId, key: ValueId, value: Option<ValueId>) -> Traced<bool> {
        let dict = self.py.get_type::<PyDict>();
        let done = match value {
            Some(value) => self.change_entry("__setitem__", &dict, &[container, key, value])?,
            None => self.change_entry("__delitem__", &dict, &[container, key])?,
        };
        Ok(done.is_some())
    }

    /// What is read of an entry that the trace has changed, or with a key that it made; `None`: of another.
    pub(crate) fn read_changed_entry(
        &mut self,
        operator: &str,
        container: ValueId,
        key: ValueId,
        default: Option<ValueId>,
    ) -> Traced<Option<ValueId>> {
        let Some(entry) = self.keyed_entry(container, key)? else { return Ok(None) };
        let held = match self.change_of(container, key)? {
            Some((_, held)) => held,
            None if self.source(entry.hashed).is_none() => self.held(&entry)?,
            None => return Ok(None),
        };
        Ok(match (operator, held) {
            ("contains", held) => Some(self.boolean(held.is_some())),
            ("getitem" | "get", Some(value)) => Some(value),
            ("get", None) => Some(default.unwrap_or_else(|| self.none())),
            ("getitem", None) => return unsupported("container from outside", "an entry is read that is not there"),
            _ => None,
        })
    }

    /// The trace looks at a container as a whole: it has no copy of it with the changes.
    pub(crate) fn refuse_changed_entries(&mut self, container: ValueId) -> Traced<()> {
        match self.has_changed_entries(container) {
            true => unsupported("container from outside as a whole", "the trace has changed entries of it"),
            false => Ok(()),
        }
    }

    /// How long a container is of which the trace has changed entries; `None`: it has not.
    pub(super) fn changed_length(&mut self, container: ValueId) -> Traced<Option<usize>> {
        if !self.has_changed_entries(container) {
            return Ok(None);
        }
        match self.length_after_changes(container) {
            None => self.refuse_changed_entries(container).map(|()| None),
            length => Ok(length),
        }
    }

    fn has_changed_entries(&self, container: ValueId) -> bool {
        self.has_entries_changed_by_address(container) || self.has_entries_changed_by_hash(container)
    }

    pub(super) fn has_entries_changed_by_address(&self, container: ValueId) -> bool {
        (0..self.state.effects.len()).any(|index| self.entry_effect(index, container).is_some())
    }

    /// Such a container and key; `None`: they are others. Nothing that it holds runs Python code where C looks for the key.
    fn keyed_entry(&mut self, container: ValueId, key: ValueId) -> Traced<Option<Entry<'py>>> {
        let sourced = matches!(self.value(container), Value::Real { source: Some(_), .. });
        let copied = self.state.private_copies.of(container).is_some();
        let Some(object) = self.real(container).filter(|_| sourced && !copied && !self.is_namespace(container)) else {
            return Ok(None);
        };
        let Some(of) = containers::of(&object.get_type()).filter(is_changed_by_c) else { return Ok(None) };
        // Whoever goes through it sees that its size changes.
        let gone_through = self.state.guard_requests.has_any(container, GuardRequest::GONE_THROUGH);
        let Some(hashed) = self.hashed_by_address(key)?.filter(|_| !gone_through) else { return Ok(None) };
        if !self.has_entries_changed_by_address(container) {
            // A private copy can have keys that the trace made beside plain ones.
            let is_for_a_copy = self.source(key).is_none() && hashed == key && !self.is_unusual(container);
            if is_for_a_copy || !self.is_looked_up_by_c(&object) {
                return Ok(None);
            }
        }
        let class = self.class_of(container)?;
        self.rely_on_class(&class);
        Ok(Some(Entry { container, of, key, hashed }))
    }

    /// The object whose address C hashes for a key: one from outside, or an instance that the trace made; `None`: C does something else.
    fn hashed_by_address(&mut self, key: ValueId) -> Traced<Option<ValueId>> {
        let referent = self.referent_of_key(key);
        let hashed = referent.unwrap_or(key);
        let of_python = match self.value(hashed) {
            Value::Real { source: Some(_), .. } => referent.is_some() || self.known(key).is_none(),
            Value::New(New::Owned(made)) => !types::is_c_type(&made.bind(self.py).get_type()),
            _ => false,
        };
        if !of_python {
            return Ok(None);
        }
        let class = self.class_of(hashed)?;
        if !self.is_keyed_by_address(&class) {
            return Ok(None);
        }
        self.rely_on_address(&class);
        Ok(Some(hashed))
    }

    /// What is there for the key now.
    fn held(&mut self, entry: &Entry<'py>) -> Traced<Held> {
        if let Some((_, held)) = self.change_of(entry.container, entry.key)? {
            return Ok(held);
        }
        // What the trace made is in no container from outside.
        if self.source(entry.hashed).is_none() {
            return Ok(None);
        }
        let Some(there) = self.read_container("contains", &[entry.container, entry.key])? else {
            return unsupported("container from outside", "a key is looked for that is hashed by its address");
        };
        if !self.is_true(there)? {
            return Ok(None);
        }
        match entry.of.kind {
            Kind::Set => Ok(Some(entry.key)),
            _ => self.read_container("getitem", &[entry.container, entry.key]),
        }
    }

    /// A dict's entry is set: in the side effect that set it before, if there is one.
    fn store(&mut self, entry: &Entry<'py>, held: Held, value: ValueId) -> Traced<()> {
        match self.change_of(entry.container, entry.key)? {
            Some((index, Some(_))) => {
                if let Some(Effect::Call { args, .. }) = self.state.effects.get_mut(index)
                    && let Some(stored) = args.get_mut(2)
                {
                    *stored = value;
                }
                Ok(())
            }
            _ => {
                self.guard_let_go(held);
                self.note_entry(entry, "__setitem__", Some(value))
            }
        }
    }

    /// An entry is deleted by a method, with the side effect that set it.
    fn remove(&mut self, entry: &Entry<'py>, method: &str, held: Held) -> Traced<()> {
        match self.change_of(entry.container, entry.key)? {
            Some((index, Some(_))) => {
                self.state.effects.remove(index);
                match self.held(entry)? {
                    Some(before) => {
                        self.guard_let_go(Some(before));
                        self.require_silent_key(entry)?;
                        self.note_entry(entry, method, None)
                    }
                    None => Ok(()),
                }
            }
            _ => {
                self.guard_let_go(held);
                self.require_silent_key(entry)?;
                self.note_entry(entry, method, None)
            }
        }
    }

    /// The same for a weak reference, with its callback, of which the trace knows what it refers to.
    fn require_silent_key(&mut self, entry: &Entry<'py>) -> Traced<()> {
        if entry.key == entry.hashed {
            return Ok(());
        }
        let values = [entry.container, entry.hashed];
        let objects: Vec<_> = values.iter().filter_map(|value| self.real(*value)).collect();
        let sources: Option<Arc<[Source]>> = values.iter().map(|value| self.source(*value)).collect();
        let objects = PyTuple::new(self.py, objects).or_else(|error| internal(error.to_string()))?;
        let Some(sources) = sources.filter(|_| ReferenceEndsSilently.holds(objects.as_any())) else {
            return unsupported(
                "container from outside",
                "it lets go of a weak reference whose callback runs code at its end",
            );
        };
        let check = Check::Domain(Box::new(ReferenceEndsSilently));
        self.guard(Source::Together(sources), check, "the trace let go of it");
        Ok(())
    }

    /// What a container from outside no longer holds must be quiet at its end.
    fn guard_let_go(&mut self, held: Held) {
        let source = held.and_then(|held| self.source(held));
        if let Some(source @ (Source::EntryFor(..) | Source::OwnEntry(..) | Source::DictItem(..))) = source {
            self.guard(source, Check::Domain(Box::new(EndsSilently::Altogether)), "the trace let go of it");
        }
    }

    fn note_entry(&mut self, entry: &Entry<'py>, method: &str, value: Option<ValueId>) -> Traced<()> {
        let before = (0..self.state.effects.len()).filter(|index| self.entry_effect(*index, entry.container).is_some());
        if before.count() >= MOST_CHANGES {
            return unsupported("container from outside", "many entries are changed by their addresses");
        }
        let callable = entry.of.method(method).or_else(|error| internal(error.to_string()))?;
        let callable = self.constant(callable);
        let args = [Some(entry.container), Some(entry.key), value].into_iter().flatten().collect();
        self.state.effects.push(Effect::Call { callable, args });
        Ok(())
    }

    /// The last side effect on an entry, and what is there after it. Guards tell its key from those of the others.
    fn change_of(&mut self, container: ValueId, key: ValueId) -> Traced<Option<(usize, Held)>> {
        for index in (0..self.state.effects.len()).rev() {
            let Some((other, held)) = self.entry_effect(index, container) else { continue };
            if other == key || self.is_same_key(other, key)? {
                return Ok(Some((index, held)));
            }
        }
        Ok(None)
    }

    /// Whether two keys are one object, or weak references to one.
    fn is_same_key(&mut self, key: ValueId, other: ValueId) -> Traced<bool> {
        match (self.referent_of_key(key), self.referent_of_key(other)) {
            (Some(key), Some(other)) => self.is(key, other),
            (None, None) => self.is(key, other),
            _ => Ok(false),
        }
    }

    /// How many entries more the container has by such side effects.
    pub(super) fn growth_by_address(&self, container: ValueId) -> isize {
        let mut there: Vec<(Result<usize, ValueId>, bool)> = Vec::new();
        let mut growth = 0;
        for index in 0..self.state.effects.len() {
            let Some((key, held)) = self.entry_effect(index, container) else { continue };
            let native = self.object_of_key(key);
            let hashed = self.referent_of_key(key).unwrap_or(key);
            let known = self.real(hashed).map_or(Err(hashed), |real| Ok(real.as_ptr() as usize));
            let had =
                || native.zip(self.real(container)).is_some_and(|(key, of)| held_for(&of, &key).flatten().is_some());
            let before = there.iter().rev().find(|(key, _)| *key == known).map_or_else(had, |(_, is_there)| *is_there);
            growth += isize::from(held.is_some()) - isize::from(before);
            there.push((known, held.is_some()));
        }
        growth
    }

    /// What the container no longer holds by a side effect on an entry; `None`: it is another side effect.
    pub(crate) fn let_go_by_entry(&self, index: usize) -> Option<Vec<Bound<'py, PyAny>>> {
        let Effect::Call { args, .. } = self.state.effects.get(index)? else { return None };
        let container = *args.first()?;
        let (key, held) = self.entry_effect(index, container)?;
        let Some((native, of)) = self.object_of_key(key).zip(self.real(container)) else { return Some(Vec::new()) };
        let value = held_for(&of, &native).flatten().and_then(|held| held.value);
        let gone = held.is_none().then_some(native);
        Some([gone, value].into_iter().flatten().collect())
    }

    /// The object by which C finds the entry; `None`: the trace made the key.
    fn object_of_key(&self, key: ValueId) -> Option<Bound<'py, PyAny>> {
        match self.referent_of_key(key) {
            Some(referent) => weak_references::refer(&self.real(referent)?).ok(),
            None => self.real(key),
        }
    }

    /// The key that a side effect is about, if it is one on an entry of this container, and what is there after it.
    fn entry_effect(&self, index: usize, container: ValueId) -> Option<(ValueId, Held)> {
        let Effect::Call { callable, args } = self.state.effects.get(index)? else { return None };
        let (to, key) = (*args.first()?, *args.get(1)?);
        if to != container {
            return None;
        }
        let (called, object) = (self.real(*callable)?, self.real(container)?);
        let of = containers::of(&object.get_type()).filter(is_changed_by_c)?;
        let is = |name: &str| of.method(name).is_ok_and(|method| method.is(&called));
        let (_, is_there) = EFFECTS.iter().find(|(name, _)| is(name))?;
        Some((key, is_there.then(|| args.get(2).copied().unwrap_or(key))))
    }
}

/// Of a dict or set, and an object: no code runs at the end of a weak reference to it that the container holds as a key.
#[derive(Debug)]
struct ReferenceEndsSilently;

impl DomainCheck for ReferenceEndsSilently {
    fn holds(&self, value: &Bound<'_, PyAny>) -> bool {
        let both = value.cast::<PyTuple>().ok().and_then(|both| both.extract().ok());
        both.is_some_and(|(container, referent): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            let met = referent.hash().ok().and_then(|hash| key_hashes::with_hash(&container, hash));
            met.is_some_and(|met| met.iter().all(|held| EndsSilently::Altogether.holds(&held.key)))
        })
    }

    fn same(&self, other: &dyn DomainCheck, _py: Python<'_>) -> bool {
        (other as &dyn std::any::Any).is::<Self>()
    }

    fn describe(&self) -> String {
        "runs no code when its weak reference ends".to_owned()
    }
}

/// Whether the container is a set or a dict whose C class stores entries as `set` and `dict` do.
pub(super) fn is_changed_by_c(of: &Container<'_>) -> bool {
    let py = of.base.py();
    let dict = py.get_type::<PyDict>();
    match of.kind {
        Kind::Set => of.base.is(py.get_type::<PySet>()),
        Kind::Dict => types::slot(&of.base, Slot::mp_ass_subscript) == types::slot(&dict, Slot::mp_ass_subscript),
        _ => false,
    }
}
