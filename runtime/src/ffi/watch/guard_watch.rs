//! A watch: set on dicts, classes and functions, it is invalidated when one of them is about to change.
use super::invalidation::Invalidation;
use super::kept::Kept;
use super::place::Place;
use super::watchers::{self, PyDict_Unwatch, PyDict_Watch, PyType_Unwatch, PyType_Watch, is_done, plain_hash};
use crate::ffi::held::Held;
use crate::ffi::inspect::function_kwdefaults;
use crate::ffi::types;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFunction, PyInt, PyString, PyType};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Broken as soon as anything that it was set on may be about to change.
#[derive(Debug)]
pub struct Watch {
    invalidation: Arc<Invalidation>,
    /// What it is set on.
    places: Vec<Place>,
    /// Addresses of dicts whose keys are known to be plain.
    plain: FxHashSet<usize>,
    /// The watched classes. One that ends is said to change, but nothing says when it is freed.
    classes: FxHashMap<usize, Held>,
}

impl Watch {
    /// A watch that is set on nothing yet; `None` where CPython does not tell.
    #[must_use]
    pub fn new(py: Python<'_>) -> Option<Self> {
        watchers::available(py).then(|| Self {
            invalidation: Arc::default(),
            places: Vec::new(),
            plain: FxHashSet::default(),
            classes: FxHashMap::default(),
        })
    }

    /// Whether nothing that it was set on has changed.
    #[must_use]
    #[inline]
    pub fn holds(&self) -> bool {
        self.invalidation.cause().is_none()
    }

    /// The marks of what has changed.
    #[must_use]
    pub fn causes(&self) -> Vec<u32> {
        self.invalidation.causes()
    }
}

/// Whether the class's version is taken away under an event only: a metaclass of Python code may have an `mro` of its own, with which
/// it is also taken away silently. CPython: `type_mro_modified`.
fn tells_of_changes(class: &Bound<'_, PyType>) -> bool {
    let known = |base: Bound<'_, PyAny>| types::is_immutable(&base.get_type());
    types::version_tag(class) != 0 && types::mro(class).is_some_and(|mro| mro.iter().all(known))
}

impl Watch {
    fn add(&mut self, place: Place, mark: u32) {
        watchers::watchers().registry.add(place, &self.invalidation, mark);
        self.places.push(place);
    }

    fn dict(&mut self, dict: &Bound<'_, PyAny>, place: Place, mark: u32) -> bool {
        let id = watchers::watchers().dicts;
        // SAFETY: `dict` is a dict, the id that of a watcher of ours.
        let watched = id.is_some_and(|id| is_done(dict.py(), unsafe { PyDict_Watch(id, dict.as_ptr()) }));
        if watched {
            self.add(place, mark);
        }
        watched
    }

    /// Whether no key of the dict compares by code of the program: what it says could change without a change to the dict. A key that comes
    /// later is a change.
    fn has_plain_keys(&mut self, dict: &Bound<'_, PyAny>) -> bool {
        let address = dict.as_ptr() as usize;
        if self.plain.contains(&address) {
            return true;
        }
        let (mut position, mut key) = (0, std::ptr::null_mut());
        // SAFETY: `dict` is a dict, which nothing changes meanwhile; the keys are borrowed, and only their types are read.
        unsafe {
            while ffi::PyDict_Next(dict.as_ptr(), &raw mut position, &raw mut key, std::ptr::null_mut()) != 0 {
                if ffi::PyUnicode_CheckExact(key) == 0 && ffi::PyLong_CheckExact(key) == 0 {
                    return false;
                }
            }
        }
        self.plain.insert(address);
        true
    }

    /// Breaks when the entry of a dict under this key, an exact `str` or `int`, changes, comes or goes. False: not watched.
    ///
    /// A dict of a derived class is watched as one of `dict`: what is told of is its table.
    pub fn entry(&mut self, dict: &Bound<'_, PyAny>, key: &Bound<'_, PyAny>, mark: u32) -> bool {
        if !dict.is_instance_of::<PyDict>()
            || !(key.is_exact_instance_of::<PyString>() || key.is_exact_instance_of::<PyInt>())
        {
            return false;
        }
        // SAFETY: attached; `key` is live.
        let Some(hash) = (unsafe { plain_hash(key.as_ptr()) }) else { return false };
        if !self.has_plain_keys(dict) {
            return false;
        }
        self.dict(dict, Place::Entry(dict.as_ptr() as usize, hash), mark)
    }

    /// The same, with what the entry holds; `None`: not watched, or there is no such entry.
    pub fn value(&mut self, dict: &Bound<'_, PyAny>, key: &Bound<'_, PyAny>, mark: u32) -> Option<Kept> {
        if !self.entry(dict, key, mark) {
            return None;
        }
        // No key compares by code of the program.
        let value = dict.cast::<PyDict>().ok()?.get_item(key).ok()??;
        Some(Kept::new(&value, &self.invalidation))
    }

    /// Breaks when a key of a dict comes or goes. False: not watched.
    pub fn names(&mut self, dict: &Bound<'_, PyAny>, mark: u32) -> bool {
        dict.is_instance_of::<PyDict>() && self.dict(dict, Place::Names(dict.as_ptr() as usize), mark)
    }

    /// Breaks when a dict ends. False: not watched.
    pub fn end(&mut self, dict: &Bound<'_, PyAny>, mark: u32) -> bool {
        dict.is_instance_of::<PyDict>() && self.dict(dict, Place::End(dict.as_ptr() as usize), mark)
    }

    /// Breaks when anything in a dict changes. False: not watched.
    fn whole(&mut self, dict: &Bound<'_, PyAny>, mark: u32) -> bool {
        dict.is_instance_of::<PyDict>() && self.dict(dict, Place::Whole(dict.as_ptr() as usize), mark)
    }

    /// Breaks when the attributes or bases of a class change, or those of a base. False: not watched.
    /// One that ends changes first: the collector clears it. CPython: `type_clear`.
    pub fn class(&mut self, class: &Bound<'_, PyType>, mark: u32) -> bool {
        let (py, address) = (class.py(), class.as_ptr() as usize);
        if !tells_of_changes(class) {
            return false;
        }
        let id = watchers::of_classes(py);
        // SAFETY: `class` is a class, the id that of a watcher of ours.
        let watched = id.is_some_and(|id| is_done(py, unsafe { PyType_Watch(id, class.as_ptr()) }));
        if watched {
            self.classes.entry(address).or_insert_with(|| Held::of(class));
            self.add(Place::Class(address), mark);
        }
        watched
    }

    /// Breaks when code, defaults or keyword defaults of a function change, the latter also in place, and when it is freed. False: not watched.
    pub fn function(&mut self, function: &Bound<'_, PyAny>, mark: u32) -> bool {
        let py = function.py();
        if !function.is_exact_instance_of::<PyFunction>() {
            return false;
        }
        let id = watchers::of_functions(py);
        if id.is_none() || function_kwdefaults(function).is_some_and(|defaults| !self.whole(&defaults, mark)) {
            return false;
        }
        self.add(Place::Function(function.as_ptr() as usize), mark);
        true
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let places = std::mem::take(&mut self.places);
        let (invalidation, watched) = (&self.invalidation, &self.classes);
        // While the interpreter shuts down nothing can be attached, and nobody asks any more.
        let _ = Python::try_attach(|py| {
            let mut watchers = watchers::watchers();
            let (dicts, classes) = (watchers.dicts, watchers.classes);
            for place in places {
                if !watchers.registry.take(place, invalidation) {
                    continue;
                }
                // SAFETY: the object has no watch any more, and lives: a dict is forgotten when it is freed, a class is asked for. The
                // ids are those of watchers of ours.
                let done = unsafe {
                    match place {
                        Place::Entry(dict, _) | Place::Names(dict) | Place::Whole(dict) | Place::End(dict) => {
                            dicts.map_or(0, |id| PyDict_Unwatch(id, dict as *mut ffi::PyObject))
                        }
                        Place::Class(class) => match watched.get(&class).and_then(|held| held.object_now(py)) {
                            Some(class) => classes.map_or(0, |id| PyType_Unwatch(id, class.as_ptr())),
                            None => 0,
                        },
                        Place::Function(_) => 0,
                    }
                };
                is_done(py, done);
            }
        });
    }
}
