//! Iterators of C: what they will give, which a copy of theirs is asked for, and steps of theirs.
//!
//! A copy is made as the iterator's own `__reduce__` says. No code of the program runs, and the iterator stays where it is.
use super::{referents, snapshot};
use crate::ffi::types;
use generated::slots::Slot;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt, PyIterator, PyString, PyTuple, PyType};
use pyo3::{ffi, intern};

/// Iterators over iterators that are looked into.
const DEPTH: usize = 4;

/// Items that an iterator which cannot say where it stands may have left: a copy of it begins with a list of them.
const MAX_LISTED: usize = 1_000;

/// Builtins that make iterators, and from which alone a copy is made.
const MAKERS: [&str; 4] = ["iter", "reversed", "enumerate", "zip"];

/// Whether the class is one of C's iterators, which give themselves where an iterator of them is asked for.
#[must_use]
pub fn is_iterator(class: &Bound<'_, PyType>) -> bool {
    let itself = ffi::PyObject_SelfIter as *const () as usize;
    types::is_immutable(class)
        && types::slot(class, Slot::tp_iternext).is_some()
        && types::slot(class, Slot::tp_iter) == Some(itself)
}

/// The next items of an iterator, at most `count`; `None`: nobody can tell without asking the iterator itself.
#[must_use]
pub fn ahead<'py>(iterator: &Bound<'py, PyAny>, count: usize) -> Option<Bound<'py, PyTuple>> {
    let mut copy = Copies::default().of(iterator, DEPTH)?.cast_into::<PyIterator>().ok()?;
    let mut items = Vec::with_capacity(count);
    while items.len() < count {
        match copy.next() {
            Some(Ok(item)) => items.push(item),
            Some(Err(_)) => return None,
            None => break,
        }
    }
    PyTuple::new(iterator.py(), items).ok()
}

/// The same. Called by compiled code.
///
/// # Errors
/// Where nobody can tell.
#[pyfunction]
pub fn look_ahead<'py>(iterator: &Bound<'py, PyAny>, count: usize) -> PyResult<Bound<'py, PyTuple>> {
    ahead(iterator, count).ok_or_else(|| PyTypeError::new_err("the iterator does not say what it will give"))
}

/// Advances an iterator by so many steps; the last may be its end. Called by compiled code.
///
/// # Errors
/// What the iterator raises.
#[pyfunction]
pub fn advance(iterator: Bound<'_, PyAny>, steps: usize) -> PyResult<()> {
    let mut iterator = iterator.cast_into::<PyIterator>()?;
    for _ in 0..steps {
        iterator.next().transpose()?;
    }
    Ok(())
}

/// What an iterator goes through.
#[derive(Debug, Default)]
pub struct Reached<'py> {
    /// The iterators that steps of it advance, itself first.
    pub iterators: Vec<Bound<'py, PyAny>>,
    /// What else they hold.
    pub others: Vec<Bound<'py, PyAny>>,
}

/// What the steps of an iterator of C advance and read; `None`: too much.
#[must_use]
pub fn reached<'py>(iterator: &Bound<'py, PyAny>) -> Option<Reached<'py>> {
    const MANY: usize = 64;
    let mut reached = Reached::default();
    let mut work = vec![iterator.clone()];
    while let Some(object) = work.pop() {
        let several = |tuple: &Bound<'_, PyTuple>| tuple.iter().all(|item| is_iterator(&item.get_type()));
        let is_iterator = is_iterator(&object.get_type());
        match is_iterator {
            true => reached.iterators.push(object.clone()),
            false => reached.others.push(object.clone()),
        }
        if is_iterator || object.cast_exact::<PyTuple>().is_ok_and(several) {
            work.extend(referents::direct(&object, MANY + 1));
        }
        if work.len() + reached.iterators.len() > MANY {
            return None;
        }
    }
    Some(reached)
}

/// Iterators and their copies, one for each.
#[derive(Default)]
struct Copies<'py>(Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>);

impl<'py> Copies<'py> {
    fn of(&mut self, iterator: &Bound<'py, PyAny>, depth: usize) -> Option<Bound<'py, PyAny>> {
        if let Some((_, copy)) = self.0.iter().find(|(known, _)| known.is(iterator)) {
            return Some(copy.clone());
        }
        let class = iterator.get_type();
        if depth == 0 || !is_iterator(&class) {
            return None;
        }
        let made = match types::is_named(&class, "itertools.") {
            true => counter(iterator, &class)?,
            false => self.reduced(iterator, &class, depth)?,
        };
        self.0.push((iterator.clone(), made.clone()));
        Some(made)
    }

    /// A copy as the `__reduce__` of the iterator's class says.
    fn reduced(
        &mut self,
        iterator: &Bound<'py, PyAny>,
        class: &Bound<'py, PyType>,
        depth: usize,
    ) -> Option<Bound<'py, PyAny>> {
        let py = iterator.py();
        let reduce = types::own(class, intern!(py, "__reduce__"))?;
        let says_where = types::own(class, intern!(py, "__setstate__")).is_some();
        if let (false, Some(hint)) = (says_where, types::own(class, intern!(py, "__length_hint__"))) {
            hint.call1((iterator,)).ok()?.extract::<usize>().ok().filter(|left| *left <= MAX_LISTED)?;
        }
        let said = reduce.call1((iterator,)).ok()?.cast_into::<PyTuple>().ok()?;
        let (make, parts) = (said.get_item(0).ok()?, said.get_item(1).ok()?.cast_into::<PyTuple>().ok()?);
        let known = |name: &&str| snapshot::original(py, "builtins", name).is_ok_and(|known| known.is(&make));
        if !MAKERS.iter().any(known) {
            return None;
        }
        let parts = parts.iter().map(|part| self.part(part, depth - 1)).collect::<Option<Vec<_>>>()?;
        let made = make.call1(PyTuple::new(py, parts).ok()?).ok()?;
        if let Some(state) = said.get_item(2).ok().filter(|state| !state.is_none()) {
            types::own(&made.get_type(), intern!(py, "__setstate__"))?.call1((&made, state)).ok()?;
        }
        Some(made)
    }

    /// What a copy is made of: a copy of an iterator; containers, numbers and text as they are.
    fn part(&mut self, part: Bound<'py, PyAny>, depth: usize) -> Option<Bound<'py, PyAny>> {
        let class = part.get_type();
        if types::slot(&class, Slot::tp_iternext).is_some() {
            return self.of(&part, depth);
        }
        let module = class.getattr(intern!(class.py(), "__module__")).map(|module| types::text(&module));
        let plain =
            types::is_immutable(&class) && matches!(module.as_deref(), Ok("builtins" | "collections" | "array"));
        (plain && !part.is_callable()).then_some(part)
    }
}

/// A copy of an `itertools.count` or `itertools.repeat`, which say where they stand in their texts; `__reduce__` of this module warns.
fn counter<'py>(iterator: &Bound<'py, PyAny>, class: &Bound<'py, PyType>) -> Option<Bound<'py, PyAny>> {
    let py = iterator.py();
    let parts = match &*types::last_name(class) {
        "count" => {
            let repr = types::own(class, intern!(py, "__repr__"))?.call1((iterator,)).ok()?;
            let text = types::text(&repr);
            let inner = text.strip_prefix("count(")?.strip_suffix(')')?;
            inner.split(", ").map(|number| number_of(py, number)).collect::<Option<Vec<_>>>()?
        }
        "repeat" => {
            // Behind the class, in releases that show it.
            let element = referents::direct(iterator, 2).pop()?;
            match types::own(class, intern!(py, "__length_hint__"))?.call1((iterator,)) {
                Ok(left) => vec![element, left],
                Err(_) => vec![element],
            }
        }
        _ => return None,
    };
    class.call1(PyTuple::new(py, parts).ok()?).ok()
}

/// The number that a text says, which is that of an `int` or of a finite `float`.
fn number_of<'py>(py: Python<'py>, text: &str) -> Option<Bound<'py, PyAny>> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let class = match digits.bytes().all(|digit| digit.is_ascii_digit()) {
        true if !digits.is_empty() => py.get_type::<PyInt>(),
        _ if digits.starts_with(|first: char| first.is_ascii_digit()) => py.get_type::<PyFloat>(),
        _ => return None,
    };
    class.call1((PyString::new(py, text),)).ok()
}
