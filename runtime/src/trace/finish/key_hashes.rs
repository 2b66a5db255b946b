//! Keys with `__hash__` or `__eq__` in Python, and the order of sets: a trace must not leave what emitted code would hash again or order otherwise.
use crate::trace::state::materialised::{Escape, Materialised};
use crate::trace::state::outcome::Effect;
use crate::trace::state::private_copies::same_order;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::value::{New, Value, ValueId};
use crate::trace::value::kinds::is_hash_of_name;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFrozenSet, PyList, PySet, PyTuple, PyType};

/// Instances within instances that a key is made of.
const MAX_LEVELS: usize = 8;

impl<'py> Tracer<'py> {
    /// Putting the key into a container runs Python code. CPython: `slot_tp_hash`, `slot_tp_richcompare`.
    pub(crate) fn hashes_itself(&mut self, key: ValueId) -> bool {
        let items = match self.value(key) {
            Value::New(New::Tuple(items)) => items.clone(),
            Value::New(New::Instance { args, .. }) if !args.is_empty() => args.clone(),
            Value::Real { object, .. } => {
                let object = object.bind(self.py).clone();
                return self.object_hashes_itself(&object);
            }
            _ => self.owned(key).map(|owned| self.absorb_all(items_of(&owned).into_iter())).unwrap_or_default(),
        };
        if items.into_iter().any(|item| self.hashes_itself(item)) {
            return true;
        }
        self.class_at_the_end(key).is_some_and(|class| self.class_hashes_itself(&class))
    }

    /// The same for an object from outside.
    fn object_hashes_itself(&mut self, object: &Bound<'py, PyAny>) -> bool {
        self.class_hashes_itself(&object.get_type())
            || items_of(object).into_iter().any(|item| self.object_hashes_itself(&item))
    }

    fn class_hashes_itself(&mut self, class: &Bound<'py, PyType>) -> bool {
        if crate::ffi::types::is_c_type(class) {
            return false;
        }
        // Others are compared only with what has their hash: there is none.
        if self.domain_of(class).is_some_and(|domain| domain.hashes_by_address(class)) {
            self.rely_on_class(class);
            return false;
        }
        // Nobody sees that a member of an enumeration is asked for the hash of its name.
        let is_of_name = self.lookup(class, "__hash__").is_some_and(|found| is_hash_of_name(&found));
        self.in_python(class, "__eq__") || !is_of_name && self.in_python(class, "__hash__")
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
            Value::New(New::Instance { .. }) => return self.is_lasting_within(key, MAX_LEVELS),
            Value::New(New::Owned(object)) => object.bind(self.py).clone(),
            _ => return false,
        };
        let class = object.get_type();
        if !crate::ffi::types::is_c_type(&class) && self.in_python(&class, "__hash__") {
            return !object.is_instance_of::<PyType>() && self.holds_lasting(&object, MAX_LEVELS);
        }
        if object.is_instance_of::<PyTuple>() || object.is_exact_instance_of::<PyFrozenSet>() {
            let items = self.absorb_all(items_of(&object).into_iter());
            return items.into_iter().all(|item| self.has_lasting_hash(item));
        }
        crate::trace::value::kinds::is_scalar(&object) && !crate::trace::value::nans::has_nan(&object)
    }

    /// Whether all that an instance holds has the same hashes, and is what it is, when compiled code makes it again.
    fn holds_lasting(&mut self, object: &Bound<'py, PyAny>, levels: usize) -> bool {
        let held = crate::ffi::referents::direct(object, usize::MAX).into_iter();
        let held = held.filter(|held| !held.is_instance_of::<PyType>()).flat_map(|held| {
            if let Ok(attributes) = held.cast_exact::<PyDict>() {
                return attributes.values().iter().collect();
            }
            vec![held]
        });
        let values = self.absorb_all(held);
        values.into_iter().all(|value| self.is_lasting_within(value, levels))
    }

    /// The same for one part, which may be described already.
    fn is_lasting_within(&mut self, value: ValueId, levels: usize) -> bool {
        let parts = match self.value(value) {
            Value::Real { .. } => return true,
            Value::New(New::Owned(object)) => {
                let object = object.bind(self.py).clone();
                return self.is_lasting_object(&object, levels);
            }
            Value::New(New::Tuple(items) | New::List(items)) => items.clone(),
            Value::New(New::Instance { class, args, content, attributes, .. }) => {
                let (class, args, content) = (*class, args.clone(), content.clone());
                let held: Vec<_> =
                    attributes.iter().map(|(_, held)| *held).chain(content).chain(args.clone()).collect();
                let class = self.real(class).and_then(|class| class.cast_into::<PyType>().ok());
                let hashes_parts = class.is_some_and(|class| !args.is_empty() || self.in_python(&class, "__hash__"));
                if !hashes_parts {
                    return false;
                }
                held
            }
            _ => return false,
        };
        levels > 0 && parts.into_iter().all(|part| self.is_lasting_within(part, levels - 1))
    }

    fn is_lasting_object(&mut self, object: &Bound<'py, PyAny>, levels: usize) -> bool {
        if crate::trace::value::kinds::is_scalar(object) {
            return !crate::trace::value::nans::has_nan(object);
        }
        let class = object.get_type();
        let is_collection = object.is_instance_of::<PyTuple>()
            || object.is_exact_instance_of::<PyFrozenSet>()
            || object.is_exact_instance_of::<PyList>();
        let is_instance = !crate::ffi::types::is_c_type(&class) && self.in_python(&class, "__hash__");
        levels > 0 && (is_collection || is_instance) && self.holds_lasting(object, levels - 1)
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

/// What C hashes and compares of a tuple or frozen set, or of an instance of a derived class.
fn items_of<'py>(object: &Bound<'py, PyAny>) -> Vec<Bound<'py, PyAny>> {
    if let Ok(tuple) = object.cast::<PyTuple>() {
        return tuple.iter().collect();
    }
    object.cast::<PyFrozenSet>().map(|set| set.iter().collect()).unwrap_or_default()
}
