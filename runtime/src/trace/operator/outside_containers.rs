//! Reads of containers from outside of which the trace has no copy: guards ask for what was read, and for nothing else.
use crate::ffi::containers::{self, Container, Kind};
use crate::ffi::{callee, types, weak_references};
use crate::guard::Check;
use crate::guard::HasItem;
use crate::guard::source::{Fixed, Source};
use crate::trace::operator::keys::by_address::{held_for, is_hashed_by_address};
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal};
use crate::trace::state::value::ValueId;
use crate::trace::value::kinds::{is_key, is_scalar};
use crate::trace::value::nans::has_nan;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyInt, PyTuple};
use std::sync::Arc;

/// How many keys a symbolic integer is compared with.
const MOST_COMPARED: usize = 16;

const WHY: &str = "the trace looked for it";

/// A container from outside that was not copied.
struct Outside<'py> {
    value: ValueId,
    object: Bound<'py, PyAny>,
    source: Source,
    of: Container<'py>,
}

impl<'py> Tracer<'py> {
    fn outside(&mut self, value: ValueId) -> Traced<Option<Outside<'py>>> {
        self.settle_appends(value)?;
        let copied = self.state.private_copies.of(value).is_some();
        let Some(object) = self.real(value).filter(|_| !copied && !self.is_namespace(value)) else { return Ok(None) };
        let class = object.get_type();
        let (Some(of), Some(source)) = (containers::of(&class), self.source(value)) else { return Ok(None) };
        // What is known by its value or identity needs no more guards. The items of a tuple are asked for one by one before it is.
        let by_items = object.is_exact_instance_of::<PyTuple>() && self.is_unread_whole(value);
        if matches!(of.kind, Kind::Tuple | Kind::FrozenSet) && !by_items && self.known(value).is_some() {
            return Ok(None);
        }
        self.class_of(value)?;
        Ok(Some(Outside { value, object, source, of }))
    }

    /// What a method of the container's C class gives on such a container, if it reads one item or the length.
    pub(crate) fn read_by_method(
        &mut self,
        method: &Bound<'py, PyAny>,
        name: &str,
        args: &[ValueId],
    ) -> Traced<Option<ValueId>> {
        let Some((container, rest)) = args.split_first() else { return Ok(None) };
        let operator = match (name, rest) {
            ("__len__", []) => "len",
            ("__getitem__", [_]) => "getitem",
            ("__contains__", [_]) => "contains",
            ("get", [_] | [_, _]) => "get",
            _ => return Ok(None),
        };
        let Some(object) = self.real(*container) else { return Ok(None) };
        let of = containers::of(&object.get_type());
        let own = callee::owner_of(method).zip(of).is_some_and(|(owner, of)| types::is_subtype(&of.base, &owner));
        if own { self.read_container(operator, args) } else { Ok(None) }
    }

    /// What an operator of the container's C class gives on such a container; `None`: C must look into a copy.
    pub(crate) fn read_container(&mut self, operator: &str, operands: &[ValueId]) -> Traced<Option<ValueId>> {
        let Some((container, rest)) = operands.split_first() else { return Ok(None) };
        if !matches!(operator, "len" | "getitem" | "contains" | "get") {
            return Ok(None);
        }
        if let Some(original) = self.copied_from(*container)? {
            return self.read_container(operator, &[&[original], rest].concat());
        }
        if let ("len", Some(length)) = (operator, self.length_of_whole(*container)?) {
            return Ok(Some(self.integer(length as isize)));
        }
        self.refuse_whole(*container, operator)?;
        let grown = match (operator, rest) {
            ("len", []) => self.length_of_growing(*container)?,
            ("getitem", [index]) => self.item_of_growing(*container, *index)?,
            _ => None,
        };
        if grown.is_some() {
            return Ok(grown);
        }
        let Some(outside) = self.outside(*container)? else { return Ok(None) };
        if operator == "len" {
            let changed = self.changed_length(outside.value)?;
            let length = self.guard_length(outside.value, &outside.object, &outside.of, outside.source)?;
            let length = changed.unwrap_or(length);
            return Ok(Some(self.integer(length as isize)));
        }
        let Some(given) = rest.first().copied() else { return Ok(None) };
        if let Some(read) = self.read_by_number(operator, outside.value, given, rest.get(1).copied())? {
            return Ok(Some(read));
        }
        if let Some(found) = self.is_one_of_few(&outside, operator, given)? {
            return Ok(Some(self.boolean(found)));
        }
        if let Some(read) = self.read_changed_entry(operator, outside.value, given, rest.get(1).copied())? {
            return Ok(Some(read));
        }
        if let Some(key) = self.weak_key(given) {
            return match outside.of.kind {
                Kind::Dict | Kind::OrderedDict => self.read_entry(operator, &outside, &key, rest.get(1).copied()),
                _ => Ok(None),
            };
        }
        let default = rest.get(1).copied();
        if let Some(read) = self.read_by_hash(operator, outside.value, given, default)? {
            return Ok(Some(read));
        }
        let Some(key) = self.known(given).filter(|key| !has_nan(key)) else {
            return self.read_by_address(operator, &outside, given, default);
        };
        match outside.of.kind {
            Kind::List | Kind::Tuple | Kind::Deque if operator == "getitem" => self.read_index(&outside, &key),
            Kind::Dict | Kind::OrderedDict if is_key(&key) => self.read_entry(operator, &outside, &key, default),
            Kind::Set | Kind::FrozenSet if operator == "contains" && is_scalar(&key) => {
                let Ok(holds) = HasItem::new(&key, &outside.object) else { return Ok(None) };
                let truth = holds.truth;
                self.guard(outside.source, Check::Domain(Box::new(holds)), WHY);
                Ok(Some(self.boolean(truth)))
            }
            _ => self.read_by_address(operator, &outside, given, default),
        }
    }

    /// Whether a symbolic integer is one of the few integers that a dict or set has for keys: it is compared with each, so that it stays one
    /// that may differ at another call. `None`: it is another object, or they are others.
    fn is_one_of_few(&mut self, outside: &Outside<'py>, operator: &str, given: ValueId) -> Traced<Option<bool>> {
        let hashed = matches!(outside.of.kind, Kind::Dict | Kind::OrderedDict | Kind::Set | Kind::FrozenSet);
        let is_integer = |object: &Bound<'py, PyAny>| object.is_exact_instance_of::<PyInt>();
        if operator != "contains"
            || !hashed
            || !self.is_symbolic(given)
            || self.is_unread(given)
            || !self.class_of(given)?.is(self.py.get_type::<PyInt>())
        {
            return Ok(None);
        }
        let Ok(keys) = containers::keys(&outside.object) else { return Ok(None) };
        if keys.len() > MOST_COMPARED
            || !keys.iter().all(|key| is_integer(&key))
            || self.changed_length(outside.value)?.is_some()
        {
            return Ok(None);
        }
        self.guard_length(outside.value, &outside.object, &outside.of, outside.source.clone())?;
        for key in keys.iter() {
            match HasItem::new(&key, &outside.object) {
                Ok(holds) if matches!(outside.of.kind, Kind::Set | Kind::FrozenSet) => {
                    self.guard(outside.source.clone(), Check::Domain(Box::new(holds)), WHY);
                }
                _ => drop(self.read_entry("contains", outside, &key, None)?),
            }
            let key = self.constant(key);
            let is_equal = self.operator("eq", &[given, key])?;
            if self.is_true(is_equal)? {
                return Ok(Some(true));
            }
        }
        Ok(Some(false))
    }

    /// A weak reference of the trace's own to a class or function that guards know by identity: C finds an entry by it as by any other such
    /// reference, and nothing that holds it keeps the class alive.
    fn weak_key(&mut self, key: ValueId) -> Option<Bound<'py, PyAny>> {
        let referent = self.referent_of_key(key)?;
        let object = self.known(referent).filter(|object| is_hashed_by_address(&object.get_type()))?;
        self.rely_on_class(&object.get_type());
        weak_references::refer(&object).ok()
    }

    /// The same for a key that C hashes by its address and compares by its identity: a guard finds it in the container as C does.
    fn read_by_address(
        &mut self,
        operator: &str,
        outside: &Outside<'py>,
        key: ValueId,
        default: Option<ValueId>,
    ) -> Traced<Option<ValueId>> {
        let is_hashed = matches!(outside.of.kind, Kind::Dict | Kind::OrderedDict | Kind::Set | Kind::FrozenSet);
        let Some((object, source)) = self.key_by_address(key)?.filter(|_| is_hashed) else { return Ok(None) };
        let (base, given, key) = (Arc::new(outside.source.clone()), key, Arc::new(source));
        let Some(held) = held_for(&outside.object, &object) else { return Ok(None) };
        if let ("getitem" | "get", Some(Some(found))) = (operator, held.as_ref().map(|held| held.value.clone())) {
            return Ok(Some(self.sourced(found, Source::EntryFor(base, key))));
        }
        let method = outside.of.method("__contains__").or_else(|error| internal(error.to_string()))?;
        let truth = PyBool::new(self.py, held.is_some()).to_owned().into_any();
        let answer = self.sourced(truth, Source::HasKey(base, Fixed::new(&method), key));
        self.known(answer);
        match operator {
            "contains" => Ok(Some(answer)),
            "get" => Ok(Some(default.unwrap_or_else(|| self.none()))),
            "getitem" => self.missing_entry_for(outside.value, &outside.of, given).map(Some),
            _ => Ok(None),
        }
    }

    /// What C finds by its address: such an object from outside, or a weak reference of the trace's own to one; and its path.
    fn key_by_address(&mut self, key: ValueId) -> Traced<Option<(Bound<'py, PyAny>, Source)>> {
        let referent = self.referent_of_key(key);
        let hashed = referent.unwrap_or(key);
        let (Some(object), Some(source)) = (self.real(hashed), self.source(hashed)) else { return Ok(None) };
        if !self.is_keyed_by_address(&object.get_type()) {
            return Ok(None);
        }
        let class = self.class_of(hashed)?;
        self.rely_on_address(&class);
        if referent.is_none() {
            return Ok(Some((object, source)));
        }
        let reference = weak_references::refer(&object).or_else(|error| internal(error.to_string()))?;
        Ok(Some((reference, Source::WeakReference(Arc::new(source)))))
    }

    fn read_index(&mut self, outside: &Outside<'py>, index: &Bound<'py, PyAny>) -> Traced<Option<ValueId>> {
        let Ok(index) = index.extract::<isize>() else { return Ok(None) };
        let length = self.guard_length(outside.value, &outside.object, &outside.of, outside.source.clone())?;
        let index = if index < 0 { index + length as isize } else { index };
        let Some(index) = usize::try_from(index).ok().filter(|index| *index < length) else { return Ok(None) };
        let item = outside.of.method("__getitem__").and_then(|method| method.call1((&outside.object, index)));
        let Ok(item) = item else { return Ok(None) };
        let path = self.item_path(&outside.object, &outside.source, index)?;
        Ok(Some(self.sourced(item, path)))
    }

    fn read_entry(
        &mut self,
        operator: &str,
        outside: &Outside<'py>,
        key: &Bound<'py, PyAny>,
        default: Option<ValueId>,
    ) -> Traced<Option<ValueId>> {
        let Ok(dict) = outside.object.cast::<PyDict>() else { return Ok(None) };
        let Ok(found) = dict.get_item(key) else { return Ok(None) };
        match (operator, found) {
            ("contains", Some(_)) => {
                self.guard(outside.source.entry_of(dict, key), Check::Exists, WHY);
                Ok(Some(self.boolean(true)))
            }
            ("getitem" | "get", Some(found)) => Ok(Some(self.sourced(found, outside.source.entry_of(dict, key)))),
            ("contains" | "get", None) => {
                self.guard(outside.source.clone(), Check::Absent(key.clone().unbind()), WHY);
                Ok(Some(match operator {
                    "contains" => self.boolean(false),
                    _ => default.unwrap_or_else(|| self.none()),
                }))
            }
            _ => Ok(None),
        }
    }
}
