//! Private copies of dicts and sets from outside whose keys hash themselves in Python: a copy has the hashes that C keeps with the keys, and
//! guards compare these.
//!
//! C then works on such a copy as on any other. Where it compares keys of one hash, their proxies lead back into the trace.
use crate::ffi::containers;
use crate::ffi::key_hashes::{self, Change, Held};
use crate::ffi::set_table::SetLayout;
use crate::ffi::types;
use crate::guard::source::Source;
use crate::guard::{Check, KeyHashes, SetShape};
use crate::names::interned;
use crate::trace::operator::keys::by_address::is_hashed_by_address;
use crate::trace::state::guard_requests::GuardRequest;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFrozenSet, PyTuple, PyWeakrefReference};
use std::sync::Arc;

const READ: &str = "the trace read the container";

impl<'py> Tracer<'py> {
    /// Makes such a copy of the container, which C is about to look into as a whole; nothing is done where it is another object.
    pub(crate) fn copy_with_hashes(&mut self, id: ValueId) -> Traced<()> {
        let Some(object) = self.real(id).filter(|_| self.is_unusual(id)) else { return Ok(()) };
        let is_builtin = containers::is_plain(&object) || object.is_exact_instance_of::<PyFrozenSet>();
        let keys = containers::keys(&object).or_else(|error| internal(error.to_string()))?;
        if is_builtin && self.are_hashed_by_value(&keys) {
            self.make_private_copy(id, &object)?;
        }
        Ok(())
    }

    /// Operands of which one is a view of such a dict: views of the copies in their place. `None`: neither is.
    pub(crate) fn views_for_c(&mut self, operands: [ValueId; 2]) -> Traced<Option<[ValueId; 2]>> {
        let mut of_copies = operands;
        for operand in &mut of_copies {
            let Some((dict, view)) = self.state.views.get(operand).copied() else { continue };
            self.copy_with_hashes(dict)?;
            let Some(copy) = self.state.private_copies.of(dict) else { continue };
            let made = copy.object.bind(self.py).call_method0(interned(self.py, view));
            *operand = made.map(|made| self.own(made)).or_else(|error| internal(error.to_string()))?;
        }
        Ok((of_copies != operands).then_some(of_copies))
    }

    /// Whether no key is hashed by its address: another object would have another hash.
    pub(crate) fn are_hashed_by_value(&self, keys: &Bound<'py, PyTuple>) -> bool {
        keys.iter().all(|key| {
            let class = key.get_type();
            if let Ok(items) = key.cast::<PyTuple>() {
                return self.are_hashed_by_value(items);
            }
            !is_hashed_by_address(&class)
                && !types::is_subtype(&class, &self.py.get_type::<PyWeakrefReference>())
                && self.domain_of(&class).is_none()
        })
    }

    /// Fills the copy of a dict.
    pub(crate) fn fill_with_hashes(
        &mut self,
        id: ValueId,
        dict: &Bound<'py, PyDict>,
        source: &Source,
        copy: &Bound<'py, PyAny>,
    ) -> Traced<()> {
        let Some(held) = key_hashes::all(dict).filter(|held| key_hashes::are_distinct(held)) else {
            return unsupported("dict from outside", "several of its keys have one hash");
        };
        let hashes: Vec<_> = held.iter().map(|held| held.hash).collect();
        let check = Check::Domain(Box::new(KeyHashes(hashes)));
        self.guard_once(id, GuardRequest::KEYS, source.clone(), check, READ);
        let base = Arc::new(source.clone());
        let (keys, values) = (Arc::new(Source::Keys(Arc::clone(&base))), Arc::new(Source::Values(base)));
        let insert = Change::InsertEntry.function(self.py).or_else(|error| internal(error.to_string()))?;
        for (index, Held { hash, key, value }) in held.into_iter().enumerate() {
            let Some(value) = value else { return internal("an entry without a value") };
            let key = self.sourced(key, Source::Item(Arc::clone(&keys), index));
            let value = self.sourced(value, Source::Item(Arc::clone(&values), index));
            let (key, value) = (self.key_for_c(key)?, self.stored(value)?);
            insert.call1((copy, hash, key, value)).or_else(|error| internal(error.to_string()))?;
        }
        Ok(())
    }

    /// What C gets for the keys of a set, and the guard on its table.
    pub(crate) fn set_with_hashes(
        &mut self,
        id: ValueId,
        layout: &SetLayout,
        source: &Source,
    ) -> Traced<Bound<'py, PyTuple>> {
        let check = Check::Domain(Box::new(SetShape(layout.clone_ref(self.py))));
        self.guard_once(id, GuardRequest::ITEMS, source.clone(), check, READ);
        let path = Arc::new(Source::Keys(Arc::new(source.clone())));
        let mut natives = Vec::new();
        for (index, key) in layout.keys(self.py).iter().enumerate() {
            let key = self.sourced(key, Source::Item(Arc::clone(&path), index));
            natives.push(self.key_for_c(key)?);
        }
        PyTuple::new(self.py, natives).or_else(|error| internal(error.to_string()))
    }

    /// What C gets for a key: an instance of a class derived from `tuple` as it is laid out, for C compares its items.
    pub(crate) fn key_for_c(&mut self, key: ValueId) -> Traced<Bound<'py, PyAny>> {
        match self.container_argument(key)? {
            Some(copy) => Ok(copy),
            None => self.native(key),
        }
    }
}
