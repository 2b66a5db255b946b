//! Reads and comparisons of guards: entries, lengths, keys, parts of functions, constants. None runs code of the program.
use super::source::item_key;
use crate::ffi::containers::{self, Kind};
use crate::ffi::key_hashes::{is_hashed_in_python, runs_code_for, under_id};
use crate::ffi::{contexts, ordered_dict, types};
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyComplex, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PyModule, PyString, PyTuple,
};

/// Whether a part that a function may lack is what it was, or still lacking.
pub(super) fn same_part<N, T>(now: Option<N>, then: Option<&T>, same: impl FnOnce(N, &T) -> bool) -> bool {
    match (now, then) {
        (Some(now), Some(then)) => same(now, then),
        (now, then) => now.is_none() && then.is_none(),
    }
}

/// The value of a dict, or of a context, under a key; `None` also where another key is asked whether it is equal.
pub(super) fn entry<'py>(dict: &Bound<'py, PyAny>, key: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    if contexts::is_context(dict) {
        return dict.get_item(key).ok();
    }
    let dict = dict.cast::<PyDict>().ok().filter(|dict| !runs_code_for(dict, key));
    dict?.get_item(key).ok()?
}

/// The same of a dict for a key that is hashed by its address.
pub(super) fn entry_for<'py>(dict: &Bound<'py, PyAny>, key: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    match is_hashed_in_python(key) {
        true => under_id(dict, key)??.value,
        false => entry(dict, key),
    }
}

/// Whether a dict or set has a key that is hashed by its address.
pub(super) fn has_key<'py>(container: &Bound<'py, PyAny>, key: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let found = match is_hashed_in_python(key) {
        true => under_id(container, key)?.is_some(),
        false if runs_code_for(container, key) => return None,
        false => containers::has_key(container, key).ok()?,
    };
    Some(PyBool::new(container.py(), found).to_owned().into_any())
}

/// An item of a tuple or list.
pub(super) fn item<'py>(sequence: &Bound<'py, PyAny>, index: usize) -> Option<Bound<'py, PyAny>> {
    if let Ok(tuple) = sequence.cast::<PyTuple>() {
        return tuple.get_item(index).ok();
    }
    sequence.cast::<PyList>().ok()?.get_item(index).ok()
}

/// The same of a list, counted from its end.
pub(super) fn item_from_end<'py>(sequence: &Bound<'py, PyAny>, index: usize) -> Option<Bound<'py, PyAny>> {
    let list = sequence.cast::<PyList>().ok()?;
    list.get_item(list.len().checked_sub(index)?).ok()
}

/// How long an array is in a dimension. The type of the array was looked at before: its shape is C's.
pub(super) fn size<'py>(array: &Bound<'py, PyAny>, index: usize) -> Option<Bound<'py, PyAny>> {
    item(&array.getattr(crate::names::name!("shape")).ok()?, index)
}

/// Length of a builtin container or a deque, or an instance of a derived class as that of its builtin class, or of a string.
pub(super) fn length(value: &Bound<'_, PyAny>) -> Option<usize> {
    let text = value.is_exact_instance_of::<PyString>() || value.is_exact_instance_of::<PyBytes>();
    if text { value.len().ok() } else { containers::builtin_length(value).or_else(|| deque_length(value)) }
}

fn deque_length(value: &Bound<'_, PyAny>) -> Option<usize> {
    containers::of(&value.get_type()).filter(|container| container.kind == Kind::Deque)?.length(value).ok()
}

/// What a method of C of the container's builtin class gives for an index.
pub(super) fn own_item<'py>(
    sequence: &Bound<'py, PyAny>,
    method: &Bound<'py, PyAny>,
    index: usize,
) -> Option<Bound<'py, PyAny>> {
    method.call1((sequence, index)).ok()
}

/// The truth of an exact number or text, or of a builtin container.
pub(super) fn truth(value: &Bound<'_, PyAny>) -> Option<bool> {
    let exact = value.is_exact_instance_of::<PyInt>()
        || value.is_exact_instance_of::<PyFloat>()
        || value.is_exact_instance_of::<PyString>()
        || value.is_exact_instance_of::<PyBytes>();
    if exact { value.is_truthy().ok() } else { length(value).map(|length| length > 0) }
}

/// Whether a dict lacks a key.
pub(super) fn absent(dict: &Bound<'_, PyAny>, key: &Bound<'_, PyAny>) -> bool {
    dict.cast::<PyDict>().is_ok_and(|dict| !runs_code_for(dict, key) && matches!(dict.contains(key), Ok(false)))
}

/// Whether a `dict`, or an instance of a derived class, has exactly these keys in the order of its table.
pub(super) fn has_keys(dict: &Bound<'_, PyAny>, keys: &Bound<'_, PyAny>) -> bool {
    let (Ok(found), Ok(keys)) = (dict.cast::<PyDict>(), keys.cast::<PyTuple>()) else { return false };
    found.len() == keys.len() && found.iter().zip(keys.iter()).all(|((key, _), wanted)| equal(&key, &wanted))
}

/// How many keys a dict, or an `OrderedDict`, has, where they are as many as these, but others, and all are integers.
pub(super) fn other_integers_as_keys(dict: &Bound<'_, PyAny>, keys: &Bound<'_, PyAny>) -> Option<usize> {
    let (found, keys) = (ordered_dict::exact(dict)?, keys.cast::<PyTuple>().ok()?);
    let are_integers = || found.keys().iter().chain(keys.iter()).all(|key| key.is_exact_instance_of::<PyInt>());
    let differ = found.len() == keys.len() && !has_keys(dict, keys) && are_integers();
    differ.then(|| keys.len())
}

/// Whether two plain constants are the same in type and value; floats bit by bit, and a nan is the same as itself alone: its hash is
/// its address, and containers find it by identity.
pub(super) fn equal(value: &Bound<'_, PyAny>, constant: &Bound<'_, PyAny>) -> bool {
    if value.is(constant) {
        return true;
    }
    if value.get_type_ptr() != constant.get_type_ptr() {
        return false;
    }
    if let (Ok(left), Ok(right)) = (value.cast_exact::<PyFloat>(), constant.cast_exact::<PyFloat>()) {
        return !left.value().is_nan() && left.value().to_bits() == right.value().to_bits();
    }
    if let (Ok(left), Ok(right)) = (value.cast_exact::<PyComplex>(), constant.cast_exact::<PyComplex>()) {
        let bits = |number: &Bound<'_, PyComplex>| (number.real().to_bits(), number.imag().to_bits());
        return !left.real().is_nan() && !left.imag().is_nan() && bits(left) == bits(right);
    }
    if let (Ok(left), Ok(right)) = (value.cast_exact::<PyTuple>(), constant.cast_exact::<PyTuple>()) {
        return left.len() == right.len() && left.iter().zip(right.iter()).all(|(left, right)| equal(&left, &right));
    }
    let plain = value.is_exact_instance_of::<PyInt>()
        || value.is_exact_instance_of::<PyString>()
        || value.is_exact_instance_of::<PyBytes>();
    plain && value.eq(constant).unwrap_or(false)
}

/// Whether nobody can assign the object's `__class__`. CPython: `object_set_class`.
pub(super) fn keeps_type(value: &Bound<'_, PyAny>) -> bool {
    types::is_immutable(&value.get_type()) && !value.is_instance_of::<PyModule>()
}

/// Whether the length of the object never changes.
pub(super) fn keeps_length(value: &Bound<'_, PyAny>) -> bool {
    value.is_exact_instance_of::<PyTuple>()
        || value.is_exact_instance_of::<PyString>()
        || value.is_exact_instance_of::<PyBytes>()
        || value.is_exact_instance_of::<PyFrozenSet>()
}

/// Adds what two values of one class differ in: the key of a number, or of a tuple and of what differs in it. `key`: of these values.
pub fn other_numbers(value: &Bound<'_, PyAny>, other: &Bound<'_, PyAny>, key: u64, found: &mut Vec<u64>) {
    if value.get_type_ptr() != other.get_type_ptr() || equal(value, other) {
        return;
    }
    if value.is_exact_instance_of::<PyInt>() || value.is_exact_instance_of::<PyFloat>() {
        found.push(key);
    }
    if let (Ok(value), Ok(other)) = (value.cast_exact::<PyTuple>(), other.cast_exact::<PyTuple>()) {
        found.push(key);
        let pairs = value.iter().zip(other.iter()).enumerate();
        pairs.for_each(|(index, (item, other))| other_numbers(&item, &other, item_key(key, index), found));
    }
}

/// Whether it is a value that nothing ends with.
pub(super) fn is_plain(value: &Bound<'_, PyAny>) -> bool {
    value.is_none()
        || value.is_exact_instance_of::<PyString>()
        || value.is_exact_instance_of::<PyInt>()
        || value.is_exact_instance_of::<PyBool>()
        || value.is_exact_instance_of::<PyFloat>()
        || value.is_exact_instance_of::<PyBytes>()
}
