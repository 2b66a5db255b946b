//! Numbers of classes that programs set, such as counts of instances: traces read them where they are, and do not know them with the class.
use crate::ffi::weak_references::WeakObject;
use pyo3::prelude::*;
use pyo3::types::PyType;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Living classes that are remembered.
const MAX_CLASSES: usize = 1024;

/// A class, and its names.
type Names = (WeakObject, FxHashSet<Box<str>>);

/// The names of such numbers, by the address of the class, which is held weakly beside them.
#[derive(Debug, Default)]
pub struct ClassNumbers {
    any: AtomicBool,
    names: Mutex<FxHashMap<usize, Names>>,
}

impl ClassNumbers {
    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        !self.any.load(Relaxed)
    }

    /// Whether a number under this name of the class itself has been set.
    pub(crate) fn has(&self, class: &Bound<'_, PyType>, name: &str) -> bool {
        let Ok(names) = self.names.lock() else { return false };
        let known = names.get(&(class.as_ptr() as usize));
        known.is_some_and(|(known, names)| known.is(class) && names.contains(name))
    }

    /// Remembers one; `false` where it is known, or cannot be remembered.
    pub(crate) fn add(&self, class: &Bound<'_, PyType>, name: &str) -> bool {
        let (Some(held), Ok(mut names)) = (WeakObject::new(class), self.names.lock()) else { return false };
        let address = class.as_ptr() as usize;
        let gone = class.py().None().into_bound(class.py());
        if names.len() >= MAX_CLASSES || names.get(&address).is_some_and(|(known, _)| !known.is(class)) {
            names.retain(|_, (known, _)| !known.is(&gone));
        }
        if names.len() >= MAX_CLASSES && !names.contains_key(&address) {
            return false;
        }
        self.any.store(true, Relaxed);
        names.entry(address).or_insert_with(|| (held, FxHashSet::default())).1.insert(name.into())
    }
}
