//! Hashes that tuples keep, from 3.14 on: where code of the program computes the hash of an item, it runs once for each tuple.
use crate::ffi::{tuple_hashes, types};
use crate::guard::{Check, TupleHash};
use crate::trace::operator::capi::SlotFunction;
use crate::trace::state::outcome::Effect;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, internal, unsupported};
use crate::trace::state::value::ValueId;
use generated::slots::Slot;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

impl<'py> Tracer<'py> {
    /// Whether the function is `tuple_hash`, and the value a tuple for whose hash code of the program runs.
    pub(super) fn keeps_hash(&mut self, function: &SlotFunction, value: ValueId) -> bool {
        let of_tuples = types::slot(&self.py.get_type::<PyTuple>(), Slot::tp_hash);
        tuple_hashes::ARE_KEPT && of_tuples == Some(function.pointer) && self.hashes_itself(value)
    }

    /// The hash of such a tuple, if it is kept; what is computed now is kept from now on.
    pub(super) fn kept_hash(
        &mut self,
        value: ValueId,
        compute: impl FnOnce(&mut Self) -> Traced<isize>,
    ) -> Traced<isize> {
        if let Some(hash) = self.state.kept_hashes.get(&value) {
            return Ok(*hash);
        }
        let Some(object) = self.real(value) else {
            let hash = compute(self)?;
            self.state.kept_hashes.insert(value, hash);
            return Ok(hash);
        };
        let (Some(source), Ok(tuple)) = (self.source(value), object.cast::<PyTuple>()) else {
            return unsupported("hash of a tuple that may keep it", types::name(&object.get_type()));
        };
        let kept = tuple_hashes::of(tuple);
        self.guard(source, Check::Domain(Box::new(TupleHash(kept))), "the trace asked for the hash of the tuple");
        let hash = match kept {
            Some(hash) => hash,
            None => {
                let hash = compute(self)?;
                self.keep_hash(value, hash)?;
                hash
            }
        };
        self.state.kept_hashes.insert(value, hash);
        Ok(hash)
    }

    /// The private copy of a tuple keeps the hash that the tuple keeps: C that asks for it runs no code.
    pub(crate) fn copy_kept_hash(
        &mut self,
        id: ValueId,
        object: &Bound<'py, PyAny>,
        copy: &Bound<'py, PyAny>,
    ) -> Traced<()> {
        let (Ok(tuple), Ok(copy)) = (object.cast::<PyTuple>(), copy.cast::<PyTuple>()) else { return Ok(()) };
        if !tuple_hashes::ARE_KEPT || !self.hashes_itself(id) {
            return Ok(());
        }
        let Some(source) = self.source(id) else { return Ok(()) };
        let kept = tuple_hashes::of(tuple);
        self.guard(source, Check::Domain(Box::new(TupleHash(kept))), "C may ask for the hash of the tuple");
        if let Some(hash) = kept {
            tuple_hashes::set(copy, hash);
        }
        Ok(())
    }

    /// C has asked the copy of a tuple for its hash, or an object of the trace: then the tuple that the program sees keeps it.
    pub(crate) fn keep_hash_of(&mut self, id: ValueId, object: &Bound<'py, PyAny>) -> Traced<()> {
        let Some(hash) = object.cast::<PyTuple>().ok().and_then(tuple_hashes::of) else { return Ok(()) };
        let is_kept =
            |object: Bound<'py, PyAny>| object.cast::<PyTuple>().is_ok_and(|tuple| tuple_hashes::of(tuple).is_some());
        if self.state.kept_hashes.contains_key(&id) || self.real(id).is_some_and(is_kept) || !self.hashes_itself(id) {
            return Ok(());
        }
        self.keep_hash(id, hash)
    }

    /// At the end of the trace the tuple keeps the hash that the trace has computed.
    pub(crate) fn keep_hash(&mut self, tuple: ValueId, hash: isize) -> Traced<()> {
        let callable = tuple_hashes::keep(self.py).or_else(|error| internal(error.to_string()))?;
        let (callable, hash) = (self.constant(callable), self.integer(hash));
        self.state.effects.push(Effect::Call { callable, args: vec![tuple, hash] });
        Ok(())
    }
}
