//! Where objects are found again that a trace knows without a path: those that its classes hold.
use super::condition::{Check, Guard};
use super::load::Load;
use super::values::is_plain;
use crate::ffi::held::{Held, is_definition, stays};
use crate::ffi::types;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// By address of what classes hold that guards ask for: who keeps such an object would keep them.
#[derive(Debug)]
pub(super) struct Homes(FxHashMap<usize, Load>);

impl Homes {
    /// Of the classes that these guards ask for; none where no path begins at what they could hold.
    pub fn of(guards: &[Guard], py: Python<'_>) -> Self {
        let mut homes = Self(FxHashMap::default());
        let is_held = |object: &Py<PyAny>| has_home(object.bind(py));
        if !guards.iter().any(|guard| guard.source.beginning().is_some_and(is_held)) {
            return homes;
        }
        for guard in guards {
            let Check::TypeUnchanged(class, _) = &guard.check else { continue };
            let mro = class.bind(py).cast::<PyType>().ok().and_then(types::mro);
            let bases = mro.iter().flat_map(|mro| mro.iter().collect::<Vec<_>>());
            bases.filter_map(|base| base.cast_into::<PyType>().ok()).for_each(|base| homes.add_class(&base));
        }
        homes
    }

    fn add_class(&mut self, class: &Bound<'_, PyType>) {
        let Some(namespace) = types::namespace(class).filter(|_| !types::is_immutable(class)) else { return };
        let held = Arc::new(Held::of(class));
        for (name, value) in namespace.iter() {
            if let Ok(name) = name.cast_into_exact::<PyString>() {
                let home = || Load::Member(Arc::clone(&held), Arc::new(name.unbind()));
                self.0.entry(value.as_ptr() as usize).or_insert_with(home);
            }
        }
    }

    /// Where an object is found; `None` for what has its own weak references, and what leads to nothing.
    pub fn get(&self, object: &Bound<'_, PyAny>) -> Option<Load> {
        has_home(object).then(|| self.0.get(&(object.as_ptr() as usize)).cloned()).flatten()
    }
}

fn has_home(object: &Bound<'_, PyAny>) -> bool {
    !is_definition(object) && !stays(object) && !is_plain(object)
}
