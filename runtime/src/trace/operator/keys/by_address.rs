//! Keys that are hashed by their address or their `id()`, and equal to none but themselves: what a container from outside has for one, and what
//! a dict does that has nothing.
use crate::ffi::containers::{self, Container};
use crate::ffi::key_hashes::{Held, is_hashed_in_python, under_id};
use crate::ffi::{types, weak_references};
use crate::guard::source::Source;
use crate::trace::state::arguments::Arguments;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, unsupported};
use crate::trace::state::value::ValueId;
use crate::trace::value::kinds::is_key;
use generated::slots::Slot;
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyDict, PyFunction, PyType, PyWeakrefReference};

impl<'py> Tracer<'py> {
    /// Whether instances of the class are such keys.
    pub(in crate::trace::operator) fn is_keyed_by_address(&self, class: &Bound<'py, PyType>) -> bool {
        is_hashed_by_address(class) || self.domain_of(class).is_some_and(|domain| domain.is_hashed_by_id(class))
    }

    /// Relies on it.
    pub(in crate::trace::operator) fn rely_on_address(&mut self, class: &Bound<'py, PyType>) {
        self.rely_on_class(class);
        if let Some(hash) = self.lookup(class, "__hash__").filter(|hash| hash.is_exact_instance_of::<PyFunction>()) {
            let (callable, source) = (self.absorb_static(hash.clone()), Source::constant(&hash));
            self.rely_on_function(callable, &hash, source);
        }
    }

    /// Whether nothing that the container holds runs code of the program where such a key is looked for.
    pub(in crate::trace::operator) fn is_looked_up_by_c(&self, container: &Bound<'py, PyAny>) -> bool {
        let by_address = |key: &Bound<'py, PyAny>| self.is_keyed_by_address(&key.get_type());
        let referring = |key: &Bound<'py, PyAny>| {
            key.is_exact_instance_of::<PyWeakrefReference>()
                && weak_references::referent(key).is_none_or(|referent| by_address(&referent))
        };
        let by_c = |key: Bound<'py, PyAny>| is_key(&key) || by_address(&key) || referring(&key);
        containers::keys(container).is_ok_and(|keys| keys.iter().all(by_c))
    }

    /// `container[key]` of such a key that is not there. CPython: `dict_subscript`, `defdict_missing`.
    pub(in crate::trace::operator) fn missing_entry_for(
        &mut self,
        container: ValueId,
        of: &Container<'py>,
        key: ValueId,
    ) -> Traced<ValueId> {
        let class = self.class_of(container)?;
        let Some(found) = self.lookup(&class, "__missing__") else { return self.raise_key_error(key) };
        let is_default = types::is_named(&of.base, "collections.defaultdict")
            && types::own(&of.base, &crate::names::interned(self.py, "__missing__")).is_some_and(|own| own.is(&found));
        if !is_default {
            let missing = self.special(container, "__missing__")?;
            return match missing {
                Some(missing) => self.call(missing, Arguments::positional(vec![key])),
                None => self.raise_key_error(key),
            };
        }
        self.makes_what_is_kept()?;
        let factory = self.get_attr(container, "default_factory")?;
        if self.is_none(factory)? {
            return self.raise_key_error(key);
        }
        let made = self.call(factory, Arguments::positional(Vec::new()))?;
        match self.change_item(container, key, Some(made))? {
            true => Ok(made),
            false => unsupported("container from outside", "an entry is made by a default"),
        }
    }
}

/// What a container holds for such a key, or for a weak reference to one; `None`: that cannot be told without code of the program.
pub(in crate::trace::operator) fn held_for<'py>(
    container: &Bound<'py, PyAny>,
    key: &Bound<'py, PyAny>,
) -> Option<Option<Held<'py>>> {
    if is_hashed_in_python(key) {
        return under_id(container, key);
    }
    let is_there = containers::has_key(container, key).ok()?;
    let value = container.cast::<PyDict>().ok().and_then(|dict| dict.get_item(key).ok().flatten());
    Some(is_there.then(|| Held { hash: 0, key: key.clone(), value }))
}

/// Whether C hashes instances of the class by their address, and finds no other equal to one.
pub(crate) fn is_hashed_by_address(class: &Bound<'_, PyType>) -> bool {
    let plain = class.py().get_type::<PyAny>();
    [Slot::tp_hash, Slot::tp_richcompare].into_iter().all(|slot| types::slot(class, slot) == types::slot(&plain, slot))
}
