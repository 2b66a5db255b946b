//! Keys with `__hash__` or `__eq__` in Python, and the order of sets: a trace must not leave what emitted code would hash again or order otherwise.
use crate::trace::state::materialised::{Escape, Materialised};
use crate::trace::state::outcome::Effect;
use crate::trace::state::private_copies::same_order;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::value::{New, Value, ValueId};
use crate::trace::value::kinds::is_hash_of_name;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PySet, PyTuple, PyType};

impl<'py> Tracer<'py> {
    /// Putting the key into a container runs Python code. CPython: `slot_tp_hash`, `slot_tp_richcompare`.
    fn hashes_itself(&mut self, key: ValueId) -> bool {
        let items = match self.value(key) {
            Value::New(New::Tuple(items)) => items.clone(),
            Value::New(New::Instance { value: Some(value), .. }) => vec![*value],
            _ => match self.owned(key).and_then(|object| object.cast_into_exact::<PyTuple>().ok()) {
                Some(tuple) => tuple.iter().map(|item| self.absorb(item)).collect(),
                None => Vec::new(),
            },
        };
        if items.into_iter().any(|item| self.hashes_itself(item)) {
            return true;
        }
        let Some(class) = self.class_at_the_end(key) else { return false };
        if crate::ffi::types::is_c_type(&class) {
            return false;
        }
        // Nobody sees that a member of an enumeration is asked for the hash of its name.
        let is_of_name = self.lookup(&class, "__hash__").is_some_and(|found| is_hash_of_name(&found));
        self.in_python(&class, "__eq__") || !is_of_name && self.in_python(&class, "__hash__")
    }

    /// The class of a value that may be described already; `None` for C's own kinds.
    fn class_at_the_end(&self, value: ValueId) -> Option<Bound<'py, PyType>> {
        match self.value(value) {
            Value::Real { object, .. } | Value::New(New::Owned(object)) => Some(object.bind(self.py).get_type()),
            Value::New(New::Instance { class, .. } | New::Exception { class, .. }) => {
                self.real(*class)?.cast_into::<PyType>().ok()
            }
            _ => None,
        }
    }

    fn in_python(&mut self, class: &Bound<'py, PyType>, name: &str) -> bool {
        self.lookup(class, name)
            .is_some_and(|found| crate::ffi::types::c_name(&found.get_type()) != "wrapper_descriptor")
    }

    /// A container that compiled code fills again must not run Python code for that.
    pub(crate) fn refuse_own_hashes(&mut self, container: ValueId, keys: &[ValueId]) -> Materialised<()> {
        for key in keys {
            if self.hashes_itself(*key) {
                return self.escape(container, "a container of keys with a __hash__ or __eq__ of their own");
            }
        }
        Ok(Ok(()))
    }

    /// Whether the key that compiled code makes again has the hash that this one has.
    pub(crate) fn has_lasting_hash(&mut self, key: ValueId) -> bool {
        let object = match self.value(key) {
            Value::Real { .. } => return true,
            Value::New(New::Tuple(items)) => {
                return items.clone().into_iter().all(|item| self.has_lasting_hash(item));
            }
            Value::New(New::Instance { class, .. }) => {
                let class = *class;
                let class = self.real(class).and_then(|class| class.cast_into::<PyType>().ok());
                return class.is_some_and(|class| self.in_python(&class, "__hash__"));
            }
            Value::New(New::Owned(object)) => object.bind(self.py).clone(),
            _ => return false,
        };
        if let Ok(tuple) = object.cast_exact::<PyTuple>() {
            let items: Vec<_> = tuple.iter().map(|item| self.absorb(item)).collect();
            return items.into_iter().all(|item| self.has_lasting_hash(item));
        }
        let class = object.get_type();
        crate::trace::value::kinds::is_scalar(&object) && !crate::trace::value::nans::has_nan(&object)
            || !crate::ffi::types::is_c_type(&class)
                && !object.is_instance_of::<PyType>()
                && self.in_python(&class, "__hash__")
    }

    /// Notes when C is first called on a container from outside.
    pub(crate) fn note_use(&mut self, operands: &[ValueId]) {
        let Some(container) = operands.first() else { return };
        let hashed = self.private_copy_of(*container).is_some_and(|private_copy| {
            private_copy.is_instance_of::<PyDict>() || private_copy.is_instance_of::<PySet>()
        });
        if hashed {
            self.state.changed_sets.entry(*container).or_insert(self.state.outer_step);
        }
    }

    /// A change to a container from outside is made when the trace has ended: it must not run Python code then.
    pub(crate) fn refuse_own_hashes_outside(
        &mut self,
        changed: ValueId,
        object: &Bound<'py, PyAny>,
        from: usize,
    ) -> Materialised<()> {
        let is_dict = object.is_instance_of::<PyDict>();
        let keys: Vec<_> = self.state.effects[from..]
            .iter()
            .filter_map(|effect| match effect {
                Effect::SetItem { key, .. } | Effect::DelItem { key, .. } => Some(*key),
                Effect::Call { args, .. } if is_dict => args.get(1).copied(),
                _ => None,
            })
            .collect();
        if keys.into_iter().any(|key| self.hashes_itself(key)) {
            return Ok(Err(
                self.before_change(changed, "a key with a __hash__ or __eq__ of its own in a container from outside")
            ));
        }
        Ok(Ok(()))
    }

    /// The trace must end before C is called on a container from outside.
    pub(crate) fn before_change(&self, changed: ValueId, what: &str) -> Escape {
        let state_copies = self.state.private_copies.of(changed).map(|private_copy| private_copy.created_at);
        let step = self.state.changed_sets.get(&changed).copied().or(state_copies).unwrap_or(0).saturating_sub(1);
        Escape { step, what: what.into() }
    }

    fn private_copy_of(&self, value: ValueId) -> Option<Bound<'py, PyAny>> {
        Some(self.state.private_copies.of(value)?.object.bind(self.py).clone())
    }

    /// The order of a set depends on how it was filled: filled again in its order, it must have the same.
    pub(crate) fn keeps_order(&mut self, set: &Bound<'py, PyAny>, items: &[Bound<'py, PyAny>]) -> bool {
        let again = self.with_callbacks(|| {
            let again = set.get_type().call0()?;
            match again.cast::<PySet>() {
                Ok(again) => items.iter().try_for_each(|item| again.add(item))?,
                Err(_) => return set.get_type().call1((PyTuple::new(set.py(), items)?,)),
            }
            Ok(again)
        });
        again.is_ok_and(|again| same_order(&again, set))
    }
}
