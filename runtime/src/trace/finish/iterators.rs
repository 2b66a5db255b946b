//! Materialises iterators over sequences and dicts that stand in the middle.
use crate::ffi::{containers, ordered_dict, referents, types};
use crate::names::{interned, name};
use crate::trace::state::materialised::Materialised;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::internal;
use crate::trace::state::value::{New, ValueId};
use generated::slots::Slot;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

/// Makes an iterator over a dict that has given its first items already: `advanced(dict, taken)`.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
struct Advanced {
    /// The method of `dict` that makes the view.
    view: &'static str,
    reversed: bool,
}

#[pymethods]
impl Advanced {
    fn __call__<'py>(&self, dict: &Bound<'py, PyDict>, taken: usize) -> PyResult<Bound<'py, PyAny>> {
        let py = dict.py();
        let view = py.get_type::<PyDict>().getattr(interned(py, self.view))?.call1((dict,))?;
        let begin = if self.reversed { name!("__reversed__") } else { name!("__iter__") };
        let iterator = view.call_method0(begin)?;
        for _ in 0..taken {
            iterator.call_method0(name!("__next__"))?;
        }
        Ok(iterator)
    }
}

/// What an iterator over a dict has yet to give.
fn remaining<'py>(iterator: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let reduced = iterator.call_method0(name!("__reduce__"))?;
    reduced.get_item(1)?.get_item(0)?.try_iter()?.collect()
}

/// Whether these are the same objects, or pairs of the same objects.
fn same(one: &Bound<'_, PyAny>, other: &Bound<'_, PyAny>) -> bool {
    let pairs = (one.cast_exact::<PyTuple>(), other.cast_exact::<PyTuple>());
    one.is(other)
        || matches!(pairs, (Ok(one), Ok(other)) if one.len() == 2 && other.len() == 2
            && one.iter().zip(other).all(|(one, other)| one.is(&other)))
}

/// Whether the class of a container iterates as the builtin class that it derives from.
fn iterates_plainly(sequence: &Bound<'_, PyAny>, reversed: bool) -> bool {
    let class = sequence.get_type();
    let Some(base) = containers::of(&class).map(|of| of.base) else { return true };
    match reversed {
        true => {
            let name = interned(sequence.py(), "__reversed__");
            let begin = |class| types::lookup(class, &name).map(|method| method.as_ptr());
            begin(&class) == begin(&base)
        }
        false => types::slot(&class, Slot::tp_iter) == types::slot(&base, Slot::tp_iter),
    }
}

impl<'py> Tracer<'py> {
    pub(crate) fn describe_sequence_iterator(
        &mut self,
        id: ValueId,
        object: &Bound<'py, PyAny>,
    ) -> Materialised<Vec<ValueId>> {
        let reduced =
            object.call_method0(name!("__reduce__")).ok().and_then(|reduced| reduced.cast_into::<PyTuple>().ok());
        let reversed = types::is_c_class(&object.get_type(), "list_reverseiterator");
        let parts = reduced.as_ref().and_then(|reduced| {
            let args = reduced.get_item(1).ok()?.cast_into::<PyTuple>().ok()?;
            let next = reduced.get_item(2).ok()?.extract::<usize>().ok()?;
            Some((args.get_item(0).ok()?, next))
        });
        match parts {
            Some((sequence, _)) if !iterates_plainly(&sequence, reversed) => {
                self.escape(id, "an iterator over an object whose class has an __iter__ of its own")
            }
            // `__setstate__` goes no further than to the end.
            Some((sequence, next))
                if sequence.cast().is_ok_and(|list: &Bound<'_, PyList>| list.len() < next + usize::from(reversed)) =>
            {
                self.escape(id, "an iterator that has come further than its list now goes")
            }
            Some((sequence, next)) => {
                let sequence = self.absorb(sequence);
                self.set(id, New::SequenceIterator { sequence, next, reversed }, vec![sequence])
            }
            None => self.materialise_reduced(id, object),
        }
    }

    /// Whether `reversed.__setstate__` finds the sequence as it is now, and asks no class of the program for its length.
    pub(crate) fn stands_within(&mut self, reduced: &Bound<'py, PyTuple>) -> bool {
        let (Ok(args), Ok(next)) = (reduced.get_item(1), reduced.get_item(2)) else { return true };
        let Ok(sequence) = args.get_item(0) else { return false };
        let within = types::is_c_type(&sequence.get_type())
            && next.extract::<usize>().is_ok_and(|next| sequence.len().is_ok_and(|len| next < len));
        let over = self.absorb(sequence);
        within && !self.state.private_copies.of(over).is_some_and(|copy| copy.is_changed(self.py))
    }

    /// A view of a dict, which is made again by the method of its C class.
    pub(crate) fn describe_view(
        &mut self,
        id: ValueId,
        object: &Bound<'py, PyAny>,
        name: &str,
    ) -> Materialised<Vec<ValueId>> {
        let Some((dict, method)) = containers::viewed(object) else { return self.escape(id, name.to_owned()) };
        let (callable, dict) = (self.constant(method), self.absorb(dict));
        self.set(id, New::Call { callable, args: vec![dict], state: None }, vec![callable, dict])
    }

    /// One over a dict that has the keys which it had when the iterator began.
    pub(crate) fn describe_dict_iterator(
        &mut self,
        id: ValueId,
        object: &Bound<'py, PyAny>,
        name: &str,
    ) -> Materialised<Vec<ValueId>> {
        let view = match name {
            name if name.ends_with("keyiterator") => "keys",
            name if name.ends_with("valueiterator") => "values",
            _ => "items",
        };
        let advanced = Advanced { view, reversed: name.starts_with("dict_reverse") };
        // One that has come to its end holds none.
        let dict = referents::direct(object, 2).into_iter().find_map(|held| held.cast_into::<PyDict>().ok());
        let dict = dict.unwrap_or_else(|| PyDict::new(self.py));
        let left = object.call_method0(name!("__length_hint__")).and_then(|left| left.extract::<usize>());
        let taken = left.ok().and_then(|left| dict.len().checked_sub(left));
        let again = taken.and_then(|taken| advanced.__call__(&dict, taken).ok());
        let agrees = again.and_then(|again| Some((remaining(&again).ok()?, remaining(object).ok()?)));
        let agrees = agrees.is_some_and(|(again, now)| {
            again.len() == now.len() && again.iter().zip(&now).all(|(again, now)| same(again, now))
        });
        let (Some(taken), true) = (taken, agrees) else {
            return self.escape(id, format!("{name} over a dict that was changed"));
        };
        let over = self.absorb(dict.into_any());
        if self.real(over).is_some_and(|over| ordered_dict::is_derived(&over)) {
            return self.escape(id, "odict_iterator");
        }
        if self.state.private_copies.of(over).is_some_and(|private_copy| private_copy.is_changed(self.py)) {
            return self.escape(id, format!("{name} over a dict from outside that was changed"));
        }
        let callable = Bound::new(self.py, advanced).or_else(|error| internal(error.to_string()))?;
        let taken = taken.into_pyobject(self.py).or_else(|error| internal(error.to_string()))?;
        let (callable, taken) = (self.constant(callable.into_any()), self.constant(taken.into_any()));
        let args = vec![over, taken];
        self.set(id, New::Call { callable, args, state: None }, vec![callable, over, taken])
    }
}
