//! `id()` of objects that the trace made, or that no guard can hold: a number that can be compared and used as a key, but that C code may not look into.
//!
//! Plain Python's number is not known before the object leaves the trace, so this one cannot leave.
use crate::ffi::types;
use crate::guard::source::Source;
use crate::guard::{AllDifferent, Check};
use crate::names::name;
use crate::stored::ProcessBound;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, fallback, unsupported};
use crate::trace::state::value::{New, Value, ValueId};
use crate::trace::value::kinds::is_scalar;
use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyFrozenSet, PyInt, PySet, PyString, PyTuple};

/// What [`New::Opaque`] calls such a number.
pub(crate) const KIND: &str = "id() of an object that the trace made";

/// How C begins an address in a text.
const PREFIX: &str = "0x";

/// No address of an object, nor a hash of one, is as small.
const MANY: u64 = 1 << 20;

/// What [`New::Opaque`] calls the number that `gc.collect()` gives.
const COLLECTED: &str = "the number of objects that the collector finds";

impl<'py> Tracer<'py> {
    /// `gc.collect()`: compiled code calls it when it has made its other changes; what it finds then is not known. Where the trace looks at
    /// weak references, or has objects whose end runs code, it must not find what compiled code still holds, or does not make any more.
    pub(crate) fn collect(&mut self, function: &Bound<'py, PyAny>) -> Traced<ValueId> {
        if !self.state.track && !self.state.finalisers.objects.is_empty() {
            return Err(Unwind::Track);
        }
        if self.state.track {
            let weakly: Vec<_> = self.state.weakly.iter().copied().collect();
            weakly.into_iter().try_for_each(|referent| self.check_alive(referent))?;
            if !self.holds_all_given() {
                return unsupported("collection that may end an object", "a weak reference may lead to it");
            }
        }
        self.rely_on_quiet_collector()?;
        if !*self.state.has_collected {
            self.rely_on_silent_collection()?;
        }
        *self.state.has_collected = true;
        let callable = self.constant(function.clone());
        self.state.effects.push(crate::trace::state::outcome::Effect::Call { callable, args: Vec::new() });
        Ok(self.push(Value::New(New::Opaque(COLLECTED))))
    }

    /// The collector calls nobody and keeps nothing back: `gc.callbacks`, `gc.set_debug`.
    fn rely_on_quiet_collector(&mut self) -> Traced<()> {
        const QUIET: &std::ffi::CStr = c"lambda module: not (module.callbacks or module.garbage or module.get_debug())";
        let parts = crate::ffi::modules::import(self.py, "gc")
            .and_then(|module| Ok((module, self.py.eval(QUIET, None, None)?)));
        let (module, quiet) = parts.or_else(|error| crate::trace::state::unwind::internal(error.to_string()))?;
        if !quiet.call1((&module,)).and_then(|quiet| quiet.is_truthy()).unwrap_or(false) {
            return unsupported("collection that a program follows", "gc.callbacks, gc.garbage or gc.set_debug()");
        }
        let source = Source::constant(module.as_any());
        let check = Check::Call(quiet.unbind());
        self.guard(source, check, "the trace asked for a collection, which calls nobody");
        Ok(())
    }

    /// Where the number is looked at that a collection gives: it counts objects that the trace has made and dropped, but no native
    /// collection would find them.
    pub(crate) fn refuse_collected(&self, name: &str) -> Traced<()> {
        match name == COLLECTED && self.has_made_cyclic() {
            true => fallback(
                "the program counts what the collector finds, and objects would be missing that the trace does not make",
            ),
            false => Ok(()),
        }
    }

    /// Whether the name stands for a number.
    pub(crate) fn is_number_kind(name: &str) -> bool {
        name == KIND || name == COLLECTED
    }

    /// `id(value)`.
    pub(crate) fn id_of(&mut self, value: ValueId) -> Traced<ValueId> {
        let is_asked = std::mem::take(&mut self.state.id_dicts.is_asked);
        // Of a constant there may be several objects.
        let is_constant = self.real(value).is_some_and(|object| is_scalar(&object));
        let changes = self.source(value).is_some_and(|source| self.state.numbers.is_changing_object(&source));
        if let Some(object) =
            self.real(value).filter(|_| !is_constant && !changes).and_then(|_| self.same_object(value))
        {
            let address = object.as_ptr() as usize;
            if !is_asked {
                self.note_bound(ProcessBound::Process);
            }
            self.note_id(address, value);
            let address = PyInt::new(self.py, address).into_any();
            let id = self.constant(address);
            self.keep_id(value, true)?;
            self.state.ids.insert(id, value);
            return Ok(id);
        }
        if !self.is_one_object(value)? {
            return unsupported(KIND, "a method, or a graph value that may be another one");
        }
        if let Some((id, _)) = self.state.ids.iter().find(|(_, of)| **of == value) {
            return Ok(*id);
        }
        let id = self.push(Value::New(New::Opaque(KIND)));
        self.state.ids.insert(id, value);
        Ok(id)
    }

    /// Whether the value is an object of its own: what a graph gives may be an object that is there already.
    fn is_one_object(&mut self, value: ValueId) -> Traced<bool> {
        if !matches!(self.value(value), Value::Node { .. }) {
            return Ok(matches!(self.value(value), Value::New(New::Owned(_) | New::Opaque(_)) | Value::Real { .. }));
        }
        let class = self.class_of(value)?;
        let is_new = self.domain_of(&class).is_some_and(|domain| domain.gives_new_objects());
        Ok(is_new && !self.is_choice(value))
    }

    /// C asks, for the program, what hangs on the address of an object that the trace made: that is another one once it leaves.
    pub(crate) fn refuse_address(&mut self, callable: ValueId, value: ValueId) -> Traced<()> {
        let id = self.import("builtins", "id")?;
        // The value that came last: C has made the object for this very call, and may make the next one in its place.
        let last = value.0 as usize + 1 == self.state.values.len();
        let made = matches!(self.value(value), Value::New(New::Owned(_)) | Value::Real { source: None, .. });
        if last && made && self.real(callable).is_some_and(|callable| callable.is(&id)) {
            return unsupported(KIND, "an object that C makes and lets go");
        }
        let has_any = self.real(callable).is_some_and(|callable| !callable.is(&id) && self.sees_addresses(&callable));
        if !has_any || self.owned(value).is_none() {
            return Ok(());
        }
        if self.has_lasting_hash(value) {
            Ok(())
        } else {
            unsupported("hash by address", "an object that the trace made")
        }
    }

    /// C has made a text, an exception with one, or a number: objects of the trace whose addresses these tell, as `object.__repr__` and
    /// `object.__hash__` do, must not leave the trace, as they would have others there.
    pub(crate) fn note_addresses(&mut self, made: &Bound<'py, PyAny>) {
        if let Ok(text) = made.cast_exact::<PyString>() {
            if text.contains(PREFIX).unwrap_or(false) {
                self.note_addresses_in(&text.to_string_lossy());
            }
        } else if let Ok(number) = made.cast_exact::<PyInt>() {
            // CPython: `_Py_HashPointer`.
            let hash = number.extract::<i64>().ok().filter(|hash| hash.unsigned_abs() > MANY);
            hash.into_iter().for_each(|hash| self.note_address(hash.cast_unsigned().rotate_left(4) as usize));
        } else if let Ok(bytes) = made.cast_exact::<PyBytes>() {
            if bytes.as_bytes().windows(PREFIX.len()).any(|part| part == PREFIX.as_bytes()) {
                self.note_addresses_in(&String::from_utf8_lossy(bytes.as_bytes()));
            }
        } else if made.is_instance_of::<PyBaseException>() && types::is_c_type(&made.get_type()) {
            let args = made.getattr(name!("args")).ok().and_then(|args| args.cast_into_exact::<PyTuple>().ok());
            let texts = args.iter().flatten().filter(|arg| arg.is_exact_instance_of::<PyString>());
            texts.for_each(|arg| self.note_addresses(&arg));
        }
    }

    fn note_addresses_in(&mut self, text: &str) {
        for rest in text.split(PREFIX).skip(1) {
            let digits = rest.find(|digit: char| !digit.is_ascii_hexdigit()).unwrap_or(rest.len());
            let address = usize::from_str_radix(&rest[..digits], 16);
            address.into_iter().for_each(|address| self.note_address(address));
        }
    }

    fn note_address(&mut self, address: usize) {
        if let Some(value) = self.state.identity.get(&address).copied() {
            self.note_told(value);
        }
    }

    /// The program has seen something of an object of the trace that would be otherwise if it were made again.
    pub(crate) fn note_told(&mut self, value: ValueId) {
        if matches!(self.value(value), Value::New(_)) && !self.state.told.contains_key(&value) {
            let step = self.state.outer_step;
            self.state.told.insert(value, step);
        }
    }

    /// The program gets the hash of a value: nothing that it consists of may be hashed by an address of the trace's, and leave it.
    pub(crate) fn note_told_hash(&mut self, value: ValueId) {
        let items = match self.value(value) {
            Value::New(New::Tuple(items)) => items.clone(),
            Value::New(New::Owned(object)) => {
                let object = object.bind(self.py).clone();
                let tuple = object.cast_exact::<PyTuple>().map(|tuple| tuple.iter().collect::<Vec<_>>());
                let items = tuple.or_else(|_| object.cast_exact::<PyFrozenSet>().map(|set| set.iter().collect()));
                items.map(|items| self.absorb_all(items.into_iter())).unwrap_or_default()
            }
            _ => Vec::new(),
        };
        if !items.is_empty() {
            items.into_iter().for_each(|item| self.note_told_hash(item));
        } else if !self.has_lasting_hash(value) {
            self.note_told(value);
        }
    }

    /// Whether the value is such a number.
    pub(crate) fn is_id(&self, value: ValueId) -> bool {
        matches!(self.value(value), Value::New(New::Opaque(KIND)))
    }

    /// `id(a) == other`: numbers of objects that live at the same time differ; what was known of one that is gone may come again.
    pub(crate) fn same_id(&mut self, one: ValueId, other: ValueId) -> Traced<bool> {
        if one == other {
            return Ok(true);
        }
        let both = [one, other].map(|id| self.state.ids.get(&id).copied());
        let of_outside = |of: &Option<ValueId>| of.is_some_and(|of| matches!(self.value(of), Value::Real { .. }));
        match both {
            [Some(one), Some(other)] if both.iter().all(of_outside) => return self.are_one(one, other),
            [None, _] | [_, None] if both.iter().any(of_outside) => {
                return unsupported(KIND, "of an object from outside, compared with a number");
            }
            _ => {}
        }
        for (id, of) in [one, other].into_iter().zip(both) {
            match of {
                Some(of) => self.rely_on_life(of)?,
                None if self.class_of(id)?.is(self.py.get_type::<PyInt>()) => {}
                None => return unsupported(KIND, "compared with something else"),
            }
        }
        Ok(false)
    }

    /// The value that stands for the object among those whose numbers are kept. C does not compare numbers whose hashes differ: a guard
    /// says that these objects are different ones.
    fn keep_id(&mut self, value: ValueId, known: bool) -> Traced<ValueId> {
        let Some(object) = self.real(value) else { return Ok(value) };
        let kept = self.state.kept_ids.iter();
        let mut same = kept.filter(|(other, _)| self.real(*other).is_some_and(|other| other.is(&object)));
        match same.next().copied() {
            None => self.state.kept_ids.push((value, known)),
            Some((other, was_known)) if other == value || known && was_known => return Ok(other),
            Some((_, was_known)) if known != was_known => {
                return unsupported(KIND, "of an object that is known by its address, too");
            }
            Some((other, _)) => {
                self.guard_identity(value, other, "the trace kept the number of an object");
                return Ok(other);
            }
        }
        Ok(value)
    }

    /// Guards that the objects whose numbers were keys are different ones, and none of those that are known.
    pub(crate) fn guard_kept_ids(&mut self) {
        let mut kept = std::mem::take(&mut *self.state.kept_ids);
        // A constant is no object of another kind, and in another process perhaps one with an equal constant.
        let is_constant = |value: ValueId| self.real(value).is_some_and(|object| is_scalar(&object));
        if !kept.iter().any(|(value, known)| !known && is_constant(*value)) {
            kept.retain(|(value, known)| !known || !is_constant(*value));
        }
        if kept.len() < 2 || kept.iter().all(|(_, known)| *known) {
            return;
        }
        let source =
            |value: &ValueId| self.source(*value).or_else(|| self.real(*value).map(|object| Source::constant(&object)));
        let sources: Option<Vec<Source>> = kept.iter().map(|(value, _)| source(value)).collect();
        if let Some(sources) = sources {
            let check = Check::Domain(Box::new(AllDifferent));
            self.guard(Source::Together(sources.into()), check, "the trace kept the numbers of objects");
        }
    }

    /// Breaks where a container from outside has keys that may be such numbers: C compares only those with the same hash.
    fn refuse_numbers_as_keys(&self) -> Traced<()> {
        match self.state.private_copies.iter().any(|copy| has_addresses(copy.object.bind(self.py))) {
            true => unsupported(KIND, "of an object from outside, beside numbers from outside that may be the same"),
            false => Ok(()),
        }
    }

    /// Whether two values from outside are one object, under a guard where their types do not tell.
    fn are_one(&mut self, one: ValueId, other: ValueId) -> Traced<bool> {
        Ok(self.class_of(one)?.is(&self.class_of(other)?) && self.is(one, other)?)
    }

    /// What C gets for the hash: any number will do, as long as it stays. Where two paths lead to one object from outside, it is one.
    pub(crate) fn hash_of_id(&mut self, id: ValueId) -> Traced<isize> {
        if self.state.nesting == 0 {
            return unsupported(KIND, "hashed");
        }
        self.state.hashed_own += 1;
        let of = self.state.ids.get(&id).copied();
        if let Some(of) = of.filter(|of| matches!(self.value(*of), Value::Real { .. })) {
            self.refuse_numbers_as_keys()?;
            return Ok(self.keep_id(of, false)?.0 as isize);
        }
        let of = of.and_then(|of| self.owned(of));
        Ok(of.map_or(isize::from(id.0 as i16), |object| object.as_ptr() as isize >> 4))
    }
}

/// Whether a dict or set has a key that may be the address of an object.
fn has_addresses(container: &Bound<'_, PyAny>) -> bool {
    const FIRST: usize = 1 << 16;
    const ALIGNED: usize = 8;
    let may_be = |key: Bound<'_, PyAny>| {
        let number = key.cast::<PyInt>().ok().and_then(|number| number.extract::<usize>().ok());
        number.is_some_and(|number| number >= FIRST && number % ALIGNED == 0)
    };
    match (container.cast::<PyDict>(), container.cast_exact::<PySet>()) {
        (Ok(dict), _) => dict.keys().iter().any(may_be),
        (_, Ok(set)) => set.iter().any(may_be),
        _ => container.cast_exact::<PyFrozenSet>().is_ok_and(|set| set.iter().any(may_be)),
    }
}
