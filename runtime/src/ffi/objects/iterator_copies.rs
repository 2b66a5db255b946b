//! Copies of iterators of C, which give what the iterators will give.
//!
//! A copy is made as the iterator's own `__reduce__` says; where that warns or is gone, as its fields say. No code of the program runs, and
//! the iterator stays where it is.
use super::iterator_fields::{Fields, is_iterator, is_told_by_fields};
use super::{samples, snapshot};
use crate::ffi::referents::{self, item};
use crate::ffi::types;
use generated::slots::Slot;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyInt, PyIterator, PyList, PyString, PyTuple, PyType};

/// Iterators over iterators that are looked into.
const DEPTH: usize = 4;

/// Items that an iterator which cannot say where it stands may have left: a copy of it begins with a list of them.
const MAX_LISTED: usize = 1_000;

/// Builtins that make iterators, and from which alone a copy is made.
const MAKERS: [&str; 4] = ["iter", "reversed", "enumerate", "zip"];

/// Iterators and their copies, one for each.
#[derive(Default)]
pub(super) struct Copies<'py> {
    made: Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>,
    /// Iterators whose items were listed: they have no copy that another iterator may share.
    listed: Vec<Bound<'py, PyAny>>,
}

impl<'py> Copies<'py> {
    /// A copy of an iterator.
    pub(super) fn copy(&mut self, iterator: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
        self.of(iterator, DEPTH)
    }

    pub(super) fn of(&mut self, iterator: &Bound<'py, PyAny>, depth: usize) -> Option<Bound<'py, PyAny>> {
        if let Some((_, copy)) = self.made.iter().find(|(known, _)| known.is(iterator)) {
            return Some(copy.clone());
        }
        let class = iterator.get_type();
        if depth == 0 || !is_iterator(&class) || self.listed.iter().any(|listed| listed.is(iterator)) {
            return None;
        }
        let made = match is_told_by_fields(&class) {
            true => counter(iterator, &class).or_else(|| self.told(iterator, &class, depth - 1))?,
            false => self.reduced(iterator, &class, depth)?,
        };
        self.made.push((iterator.clone(), made.clone()));
        Some(made)
    }

    /// All that an iterator has left, if that is not too much.
    pub(super) fn rest_of(&mut self, iterator: &Bound<'py, PyAny>, depth: usize) -> Option<Vec<Bound<'py, PyAny>>> {
        let mut apart = Self::default();
        let copy = apart.of(iterator, depth)?.cast_into::<PyIterator>().ok()?;
        let rest: Vec<_> = copy.take(MAX_LISTED + 1).collect::<PyResult<_>>().ok()?;
        let listed: Vec<_> = apart.made.into_iter().map(|(iterator, _)| iterator).chain(apart.listed).collect();
        if rest.len() > MAX_LISTED || self.made.iter().any(|(known, _)| listed.iter().any(|listed| listed.is(known))) {
            return None;
        }
        self.listed.extend(listed);
        Some(rest)
    }

    /// What a `chain` has yet to go through.
    pub(super) fn inputs_of(&mut self, chain: &Bound<'py, PyAny>) -> Option<Vec<Bound<'py, PyAny>>> {
        self.inputs(&Fields::of(chain)?, DEPTH)
    }

    /// CPython: `chainobject`: the iterator over what is gone through, and the one that runs.
    fn inputs(&mut self, fields: &Fields<'py>, depth: usize) -> Option<Vec<Bound<'py, PyAny>>> {
        let Some(source) = fields.object(0)? else { return Some(Vec::new()) };
        let rest = self.rest_of(&source, depth)?;
        Some(fields.object(1)?.into_iter().chain(rest).collect())
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

    /// A copy as the iterator's fields say; `None`: a step may run code of the program, or nobody can tell where the iterator stands.
    fn told(
        &mut self,
        iterator: &Bound<'py, PyAny>,
        class: &Bound<'py, PyType>,
        depth: usize,
    ) -> Option<Bound<'py, PyAny>> {
        let fields = Fields::of(iterator)?;
        match &*types::last_name(class) {
            "islice" => self.islice(class, &fields, depth),
            "chain" => self.chain(class, &fields, depth),
            "cycle" => self.cycle(class, &fields, depth),
            "pairwise" => self.pairwise(class, &fields, depth),
            "batched" => self.batched(class, &fields, depth),
            "zip_longest" => self.zip_longest(class, &fields, depth),
            "_deque_iterator" | "_deque_reverse_iterator" => over_deque(class, &fields),
            _ => None,
        }
    }

    /// A copy of the iterator that the first field holds; an empty one where that has come to its end.
    fn first(&mut self, fields: &Fields<'py>, py: Python<'py>, depth: usize) -> Option<Bound<'py, PyAny>> {
        fields.object(0)?.map_or_else(|| empty(py), |inner| self.of(&inner, depth))
    }

    /// CPython: `isliceobject`: the iterator, the next place, the stop (or -1), the step, how many it has taken.
    fn islice(&mut self, class: &Bound<'py, PyType>, fields: &Fields<'py>, depth: usize) -> Option<Bound<'py, PyAny>> {
        let (next, stop, step) = (fields.number(1)?, fields.number(2)?, fields.number(3)?);
        let taken = fields.number(4).filter(|taken| (0..=next).contains(taken) && step > 0)?;
        let stop = (stop >= 0).then(|| stop - taken);
        class.call1((self.first(fields, class.py(), depth)?, next - taken, stop, step)).ok()
    }

    fn chain(&mut self, class: &Bound<'py, PyType>, fields: &Fields<'py>, depth: usize) -> Option<Bound<'py, PyAny>> {
        let inputs = self.inputs(fields, depth)?;
        let parts: Vec<_> = inputs.into_iter().map(|input| self.part(input, depth)).collect::<Option<_>>()?;
        class.call1(PyTuple::new(class.py(), parts).ok()?).ok()
    }

    /// CPython: `cycleobject`: the iterator, what it has given, the place in that.
    fn cycle(&mut self, class: &Bound<'py, PyType>, fields: &Fields<'py>, depth: usize) -> Option<Bound<'py, PyAny>> {
        let saved: Vec<_> = fields.object(1)??.cast_into_exact::<PyList>().ok()?.iter().collect();
        let index = usize::try_from(fields.number(2)?).ok()?;
        let items = match fields.object(0)? {
            // `firstpass` is an `int`: the iterator gives again what is saved already.
            Some(_) if index > 0 || fields.number(3).is_some_and(|first| first & 0xFFFF_FFFF != 0) => return None,
            Some(inner) => self.rest_of(&inner, depth)?.into_iter().chain(saved).collect(),
            None if index > saved.len() => return None,
            None => [&saved[index..], &saved[..index]].concat(),
        };
        class.call1((items,)).ok()
    }

    /// CPython: `pairwiseobject`: the iterator, and the item that it gave last.
    fn pairwise(
        &mut self,
        class: &Bound<'py, PyType>,
        fields: &Fields<'py>,
        depth: usize,
    ) -> Option<Bound<'py, PyAny>> {
        let (Some(inner), Some(last)) = (fields.object(0)?, fields.object(1)?) else {
            return class.call1((self.first(fields, class.py(), depth)?,)).ok();
        };
        let items: Vec<_> = std::iter::once(last).chain(self.rest_of(&inner, depth)?).collect();
        class.call1((items,)).ok()
    }

    /// CPython: `batchedobject`: the iterator, the size, and from 3.13 on whether the last batch must be full.
    fn batched(&mut self, class: &Bound<'py, PyType>, fields: &Fields<'py>, depth: usize) -> Option<Bound<'py, PyAny>> {
        let py = class.py();
        let keywords = PyDict::new(py);
        if let Some(strict) = fields.number(2) {
            keywords.set_item(intern!(py, "strict"), strict & 1 == 1).ok()?;
        }
        let size = fields.number(1).filter(|size| *size > 0)?;
        class.call((self.first(fields, class.py(), depth)?, size), Some(&keywords)).ok()
    }

    /// CPython: `ziplongestobject`: two numbers, the iterators, of which those are NULL that have come to their end, a result, what fills.
    fn zip_longest(
        &mut self,
        class: &Bound<'py, PyType>,
        fields: &Fields<'py>,
        depth: usize,
    ) -> Option<Bound<'py, PyAny>> {
        let py = class.py();
        let iterators = fields.object(2)??.cast_into_exact::<PyTuple>().ok()?;
        let copied = (0..iterators.len())
            .map(|index| item(&iterators, index).map_or_else(|| empty(py), |inner| self.of(&inner, depth)));
        let copied: Vec<_> = copied.collect::<Option<_>>()?;
        let keywords = PyDict::new(py);
        keywords.set_item(intern!(py, "fillvalue"), fields.object(4)?).ok()?;
        class.call(PyTuple::new(py, copied).ok()?, Some(&keywords)).ok()
    }

    /// What a copy is made of: a copy of an iterator; containers, numbers and text as they are.
    pub(super) fn part(&mut self, part: Bound<'py, PyAny>, depth: usize) -> Option<Bound<'py, PyAny>> {
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

fn empty(py: Python<'_>) -> Option<Bound<'_, PyAny>> {
    PyTuple::empty(py).try_iter().ok().map(Bound::into_any)
}

/// CPython: `dequeiterobject`: a block, a place in it, the deque, its state when the iterator began, how many are left. The state of a deque
/// is the fifth of its own fields, after the length.
fn over_deque<'py>(class: &Bound<'py, PyType>, fields: &Fields<'py>) -> Option<Bound<'py, PyAny>> {
    const STATE: usize = 7;
    const FAR: usize = 1 << 16;
    let deque = fields.object(2)?.filter(|deque| types::is_immutable(&deque.get_type()))?;
    let (state, left) = (fields.number(3)?.cast_unsigned(), usize::try_from(fields.number(4)?).ok()?);
    let unchanged = samples::words(&deque).is_ok_and(|words| words.get(STATE) == Some(&state));
    let taken = deque.len().ok()?.checked_sub(left).filter(|taken| unchanged && *taken <= FAR)?;
    class.call1((deque, taken)).ok()
}
