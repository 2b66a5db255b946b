//! Numbers that a class has and the program sets: `Node.count += 1`. A number changes nothing of what the class means.
use crate::ffi::types;
use crate::guard::source::Source;
use crate::guard::{is_number, is_number_class, tells_numbers};
use crate::names::interned;
use crate::trace::attribute::descriptors::is_data_descriptor;
use crate::trace::state::outcome::Effect;
use crate::trace::state::tracer::Tracer;
use crate::trace::state::unwind::{Traced, Unwind, unsupported};
use crate::trace::state::value::ValueId;
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::sync::Arc;

impl<'py> Tracer<'py> {
    /// What stands for a number that the program is known to set on the class or a base of it; `None`: there is none under this name.
    pub(crate) fn class_number(&mut self, class: &Bound<'py, PyType>, name: &str) -> Option<Bound<'py, PyAny>> {
        if self.state.shared_caches.class_numbers.is_empty() || name.starts_with("__") {
            return None;
        }
        let found = types::lookup(class, &interned(self.py, name)).filter(is_number)?;
        let owner = self.owner_of(class, name)?;
        if !self.state.shared_caches.class_numbers.has(&owner, name) {
            return None;
        }
        self.rely_on_slots(class);
        let key = (owner.as_ptr() as usize, name.to_owned());
        let value = match self.state.class_numbers.get(&key) {
            Some(value) => *value,
            None => {
                let source = Source::OwnAttr(Arc::new(Source::constant(owner.as_any())), name.into());
                let value = self.sourced(found.clone(), source);
                self.state.class_numbers.see(key, value);
                value
            }
        };
        let proxy = self.proxy_for_cell(value);
        self.state.stale_class |= proxy.is_err();
        Some(proxy.unwrap_or(found))
    }

    /// Sets a number in the place of a number; `false`: it is something else.
    pub(crate) fn set_class_number(&mut self, class: &Bound<'py, PyType>, name: &str, value: ValueId) -> Traced<bool> {
        if name.starts_with("__")
            || self.lookup(&class.get_type(), name).is_some_and(|found| is_data_descriptor(&found))
        {
            return Ok(false);
        }
        let name_of = interned(self.py, name);
        let held = types::namespace(class).and_then(|own| own.get_item(&name_of).ok().flatten());
        let of = self.class_of(value)?;
        if !held.is_some_and(|held| is_number(&held)) || !is_number_class(&of) || !tells_numbers(class) {
            return Ok(false);
        }
        if !self.state.shared_caches.class_numbers.has(class, name) {
            return match self.state.shared_caches.class_numbers.add(class, name) {
                true => Err(Unwind::Reread),
                false => Ok(false),
            };
        }
        crate::trace::state::journal::changed();
        self.rely_on_slots(class);
        self.state.class_numbers.change((class.as_ptr() as usize, name.to_owned()), value);
        let object = self.constant(class.clone().into_any());
        self.state.effects.push(Effect::SetAttr { object, name: name.to_owned(), value });
        Ok(true)
    }

    /// Notes that somebody looks at a class as it is, of which the trace has set a number.
    pub(crate) fn see_class(&mut self, class: &Bound<'py, PyType>) {
        if self.state.class_numbers.is_empty() {
            return;
        }
        let mut set = self.state.effects.iter().filter_map(|effect| match effect {
            Effect::SetAttr { object, .. } => self.real(*object),
            _ => None,
        });
        let mro = types::mro(class);
        let is_of = |owner: &Bound<'py, PyAny>| mro.iter().flat_map(|mro| mro.iter()).any(|base| base.is(owner));
        self.state.stale_class |= set.any(|object| object.is_instance_of::<PyType>() && is_of(&object));
    }

    /// A graph break where somebody has.
    pub(crate) fn refuse_stale_class(&mut self) -> Traced<()> {
        match std::mem::take(&mut self.state.stale_class) {
            true => unsupported("class seen as a whole", "the trace has set a number of it"),
            false => Ok(()),
        }
    }

    /// The class along the MRO that has the name.
    fn owner_of(&self, class: &Bound<'py, PyType>, name: &str) -> Option<Bound<'py, PyType>> {
        let name = interned(self.py, name);
        let has = |class: &Bound<'py, PyType>| {
            types::namespace(class).is_some_and(|own| own.contains(&name).unwrap_or_default())
        };
        types::mro(class)?.iter().filter_map(|class| class.cast_into::<PyType>().ok()).find(has)
    }
}
