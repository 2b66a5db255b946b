//! Iterators of C whose steps run code of the program, such as `map`: what they were made of, where one made of the same has the same state.
use super::iterator_fields::{is_iterator, is_told_by_fields};
use super::{iterators, samples, snapshot};
use crate::ffi::referents::{self, item};
use crate::ffi::types;
use generated::slots::Slot;
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple, PyType};

/// Words of an object before its own fields.
const HEAD: usize = 2;

/// Objects that an iterator holds, at most.
const MANY: usize = 16;

/// What makes an iterator of the same state, and of what; `None`: nothing does. No code of the program runs.
#[must_use]
pub fn parts<'py>(iterator: &Bound<'py, PyAny>) -> Option<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
    let class = iterator.get_type();
    if !is_iterator(&class) {
        return None;
    }
    let (make, parts) = match is_told_by_fields(&class) {
        true => (class.into_any(), fields(iterator)?),
        false => reduced(iterator, &class)?,
    };
    has_state_of_new(iterator, &make, &parts).then_some((make, parts))
}

/// The parts from this one on. Called by compiled code.
///
/// # Errors
/// Where there are none.
#[pyfunction]
pub fn parts_from<'py>(iterator: &Bound<'py, PyAny>, first: usize) -> PyResult<Bound<'py, PyTuple>> {
    let parts = parts(iterator).map(|(_, parts)| parts.get_slice(first, parts.len()));
    parts.ok_or_else(|| PyTypeError::new_err("the iterator does not say what it was made of"))
}

/// How many steps an iterator has left at most, as far as the iterators that it goes through tell; `most` and more count alike.
#[must_use]
pub fn steps_left(iterator: &Bound<'_, PyAny>, most: usize) -> usize {
    if let Some(items) = iterators::ahead(iterator, most) {
        return items.len();
    }
    let Some((_, parts)) = parts(iterator) else { return most };
    let inner = parts.iter().filter(|part| is_iterator(&part.get_type()));
    inner.map(|part| steps_left(&part, most)).min().unwrap_or(most)
}

/// The own fields of an iterator as they are in memory.
#[must_use]
pub fn state(iterator: &Bound<'_, PyAny>) -> Option<Vec<usize>> {
    samples::words(iterator).ok().map(|words| words.into_iter().skip(HEAD).collect())
}

/// What an iterator of `itertools` holds, in the order of its fields; its `__reduce__` warns, or is gone.
fn fields<'py>(iterator: &Bound<'py, PyAny>) -> Option<Bound<'py, PyTuple>> {
    let held = referents::direct(iterator, MANY);
    let at = |word: usize| held.iter().find(|held| held.as_ptr() as usize == word).cloned();
    let parts: Vec<_> = state(iterator)?.into_iter().filter_map(at).collect();
    PyTuple::new(iterator.py(), parts).ok()
}

/// What its `__reduce__` says. One that knows its length goes through a container, and says what that holds.
fn reduced<'py>(
    iterator: &Bound<'py, PyAny>,
    class: &Bound<'py, PyType>,
) -> Option<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
    let py = iterator.py();
    let reduce = types::own(class, intern!(py, "__reduce__"))?;
    if types::own(class, intern!(py, "__length_hint__")).is_some() {
        return None;
    }
    let said = reduce.call1((iterator,)).ok()?.cast_into_exact::<PyTuple>().ok()?;
    let (make, parts) = (said.get_item(0).ok()?, said.get_item(1).ok()?.cast_into_exact::<PyTuple>().ok()?);
    let makes = make.is(class) || snapshot::original(py, "builtins", "iter").is_ok_and(|iter| iter.is(&make));
    (makes && said.len() == 2).then_some((make, parts))
}

/// Whether a new iterator has the same fields, but for the parts.
fn has_state_of_new<'py>(iterator: &Bound<'py, PyAny>, make: &Bound<'py, PyAny>, parts: &Bound<'py, PyTuple>) -> bool {
    let py = iterator.py();
    let samples: Option<Vec<_>> = parts.iter().map(|part| sample(&part)).collect();
    let Some(pairs) = samples.map(|samples| parts.iter().zip(samples).collect::<Vec<_>>()) else { return false };
    let arguments = PyTuple::new(py, pairs.iter().map(|(_, sample)| sample));
    let Ok(new) = arguments.and_then(|arguments| make.call1(arguments)) else { return false };
    if !new.get_type().is(iterator.get_type()) {
        return false;
    }
    let (Some(words), Some(new_words)) = (state(iterator), state(&new)) else { return false };
    let (held, new_held) = (referents::direct(iterator, MANY), referents::direct(&new, MANY));
    let at = |held: &[Bound<'py, PyAny>], word: usize| held.iter().find(|held| held.as_ptr() as usize == word).cloned();
    words.len() == new_words.len()
        && words.iter().zip(&new_words).all(|(word, new_word)| match (at(&held, *word), at(&new_held, *new_word)) {
            (Some(object), Some(new_object)) => corresponds(&object, &new_object, &pairs),
            (None, None) => word == new_word,
            _ => false,
        })
}

/// A new object of the kind of a part, in whose place the maker takes it without running code of the program.
fn sample<'py>(part: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let py = part.py();
    if types::slot(&part.get_type(), Slot::tp_iternext).is_some() {
        return PyTuple::empty(py).try_iter().ok().map(Bound::into_any);
    }
    match part.is_callable() {
        true => PyList::empty(py).getattr(intern!(py, "append")).ok(),
        false => py.get_type::<PyAny>().call0().ok(),
    }
}

/// Whether these correspond: the same object, a part and its sample, or tuples of such.
fn corresponds<'py>(
    object: &Bound<'py, PyAny>,
    new: &Bound<'py, PyAny>,
    pairs: &[(Bound<'py, PyAny>, Bound<'py, PyAny>)],
) -> bool {
    if is_pair(object, new, pairs) {
        return true;
    }
    let (Ok(object), Ok(new)) = (object.cast_exact::<PyTuple>(), new.cast_exact::<PyTuple>()) else { return false };
    // C leaves a NULL for an iterator that has come to its end.
    let items = |index| Some((item(object, index)?, item(new, index)?));
    object.len() == new.len()
        && (0..object.len()).all(|index| {
            let corresponding = items(index);
            corresponding.is_some_and(|(object, new)| is_pair(&object, &new, pairs))
        })
}

fn is_pair<'py>(
    object: &Bound<'py, PyAny>,
    new: &Bound<'py, PyAny>,
    pairs: &[(Bound<'py, PyAny>, Bound<'py, PyAny>)],
) -> bool {
    object.is(new) || pairs.iter().any(|(part, sample)| part.is(object) && sample.is(new))
}
