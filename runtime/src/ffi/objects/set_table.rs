//! Hash tables of sets. The order of a set depends on how it was filled; only its table records that.
//!
//! CPython: `Objects/setobject.c`, `Include/cpython/setobject.h`.
use crate::names::name;
use pyo3::exceptions::{PyMemoryError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyFrozenSet, PySet, PyTuple};
use std::ptr;

/// `PySet_MINSIZE`.
const SMALL: usize = 8;

/// Larger tables are not made of parts.
const LARGEST: usize = 1 << 24;

/// `setentry`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) key: *mut ffi::PyObject,
    pub(super) hash: isize,
}

/// `PySetObject`.
#[repr(C)]
pub(super) struct SetObject {
    head: ffi::PyObject,
    fill: isize,
    pub(super) used: isize,
    pub(super) mask: isize,
    pub(super) table: *mut Entry,
    hash: isize,
    finger: isize,
    smalltable: [Entry; SMALL],
    weakreflist: *mut ffi::PyObject,
}

/// What a place of the table holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    at: usize,
    hash: isize,
    /// Something was there.
    dummy: bool,
}

/// The table of a set: its shape, and its keys in order.
#[pyclass(frozen, module = "slotrt")]
#[derive(Debug)]
pub struct SetLayout {
    mask: usize,
    finger: isize,
    places: Vec<Place>,
    keys: Py<PyTuple>,
}

impl SetLayout {
    /// Reads the table of a `set` or `frozenset`, or of an instance of a derived class; `None` where this interpreter lays sets out otherwise.
    pub fn of(set: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        if !is_laid_out(set)? {
            return Ok(None);
        }
        let mut keys = Vec::new();
        let mut places = Vec::new();
        // SAFETY: `set` is a live set of this layout; its table has `mask + 1` entries, whose keys are NULL, the dummy or live objects.
        let (mask, finger) = unsafe {
            let raw: *mut SetObject = set.as_ptr().cast();
            let mask = usize::try_from((*raw).mask).unwrap_or(0);
            for at in 0..=mask {
                let entry = *(*raw).table.add(at);
                if entry.key.is_null() {
                    continue;
                }
                let dummy = entry.hash == -1;
                places.push(Place { at, hash: entry.hash, dummy });
                if !dummy {
                    keys.push(Bound::from_borrowed_ptr(set.py(), entry.key));
                }
            }
            (mask, (*raw).finger)
        };
        Ok(Some(Self { mask, finger, places, keys: PyTuple::new(set.py(), keys)?.unbind() }))
    }

    /// The same table, read once.
    #[must_use]
    pub fn clone_ref(&self, py: Python<'_>) -> Self {
        let Self { mask, finger, places, keys } = self;
        Self { mask: *mask, finger: *finger, places: places.clone(), keys: keys.clone_ref(py) }
    }

    /// The mask, the finger, and of each place that is not empty: which, the hash, whether something was there.
    #[must_use]
    pub fn parts(&self) -> (usize, isize, Vec<(usize, isize, bool)>) {
        let places = self.places.iter().map(|place| (place.at, place.hash, place.dummy));
        (self.mask, self.finger, places.collect())
    }

    /// A table of these parts, as [`SetLayout::parts`] gives them, with these keys; `None` where they do not fit together.
    #[must_use]
    pub fn of_parts(
        mask: usize,
        finger: isize,
        places: &[(usize, isize, bool)],
        keys: &Bound<'_, PyTuple>,
    ) -> Option<Self> {
        let is_size = (SMALL - 1..LARGEST).contains(&mask) && (mask + 1).is_power_of_two();
        let ascend = places.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let within = places.last().is_none_or(|(at, ..)| *at <= mask) && places.len() <= mask;
        let used = places.iter().filter(|(_, _, dummy)| !dummy).count();
        let hashes = places.iter().all(|(_, hash, dummy)| *dummy == (*hash == -1));
        let fits = is_size && ascend && within && hashes && used == keys.len() && finger >= 0;
        let place = |(at, hash, dummy): &(usize, isize, bool)| Place { at: *at, hash: *hash, dummy: *dummy };
        fits.then(|| Self { mask, finger, places: places.iter().map(place).collect(), keys: keys.clone().unbind() })
    }

    /// The keys in the order of the table.
    #[must_use]
    pub fn keys<'py>(&self, py: Python<'py>) -> Bound<'py, PyTuple> {
        self.keys.bind(py).clone()
    }

    /// Whether both have the same objects at the same places.
    #[must_use]
    pub fn same(&self, other: &Self, py: Python<'_>) -> bool {
        self.same_shape(other) && self.keys(py).iter().zip(other.keys(py).iter()).all(|(one, other)| one.is(&other))
    }

    fn same_shape(&self, other: &Self) -> bool {
        self.mask == other.mask && self.finger == other.finger && self.places == other.places
    }

    /// Whether a set has keys with the same hashes at the same places.
    #[must_use]
    pub fn is_shape_of(&self, set: &Bound<'_, PyAny>) -> bool {
        Self::of(set).is_ok_and(|found| found.is_some_and(|found| self.same_shape(&found)))
    }

    /// The hashes of the keys, in the order of the table.
    pub fn hashes(&self) -> impl Iterator<Item = isize> {
        self.places.iter().filter(|place| !place.dummy).map(|place| place.hash)
    }

    /// A new set of this shape with these keys.
    pub fn filled<'py>(&self, keys: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PySet>> {
        let set = PySet::empty(keys.py())?;
        self.assume(&set, keys)?;
        Ok(set)
    }

    /// Gives this shape and these keys to a set that only its maker knows, and that nobody has hashed.
    pub fn fill(&self, set: &Bound<'_, PyAny>, keys: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.assume(set, keys)
    }

    /// Gives the set this table with these keys; runs no `__hash__` and no `__eq__`.
    fn assume(&self, set: &Bound<'_, PyAny>, keys: &Bound<'_, PyTuple>) -> PyResult<()> {
        let used = self.places.iter().filter(|place| !place.dummy).count();
        if keys.len() != used || self.places.iter().any(|place| place.at > self.mask) || !is_laid_out(set)? {
            return Err(PyTypeError::new_err("these keys do not fit the table"));
        }
        // SAFETY: `set` is a live set of this layout. Its entries are taken out before the table is freed or filled anew; nothing runs
        // Python code until all fields fit again. A table that is not the small one was allocated by `PyMem_Malloc`.
        let gone = unsafe {
            let raw: *mut SetObject = set.as_ptr().cast();
            let size = self.mask + 1;
            let small: *mut Entry = (&raw mut (*raw).smalltable).cast();
            let table = match size > SMALL {
                true => ffi::PyMem_Malloc(size * size_of::<Entry>()).cast(),
                false => small,
            };
            if table.is_null() {
                return Err(PyMemoryError::new_err("a table for a set"));
            }
            let old = (*raw).table;
            let count = usize::try_from((*raw).mask).unwrap_or(0) + 1;
            let gone: Vec<Entry> = (0..count).map(|at| *old.add(at)).collect();
            if old != small {
                ffi::PyMem_Free(old.cast());
            }
            (0..size).for_each(|at| *table.add(at) = Entry { key: ptr::null_mut(), hash: 0 });
            let mut next = 0;
            for place in &self.places {
                let key = match place.dummy {
                    true => dummy(),
                    false => {
                        let key = ffi::PyTuple_GET_ITEM(keys.as_ptr(), next);
                        next += 1;
                        ffi::Py_INCREF(key);
                        key
                    }
                };
                *table.add(place.at) = Entry { key, hash: place.hash };
            }
            (*raw).table = table;
            (*raw).mask = self.mask as isize;
            (*raw).fill = self.places.len() as isize;
            (*raw).used = used as isize;
            (*raw).finger = self.finger;
            gone
        };
        for entry in gone.into_iter().filter(|entry| !entry.key.is_null() && entry.hash != -1) {
            // SAFETY: the set held a reference to the key.
            drop(unsafe { Bound::from_owned_ptr(set.py(), entry.key) });
        }
        Ok(())
    }
}

#[pymethods]
impl SetLayout {
    /// Whether a set has this shape with equal keys of the same types, which must be plain values or known by identity.
    fn __call__(&self, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Some(found) = Self::of(value)? else { return Ok(false) };
        if !self.same_shape(&found) {
            return Ok(false);
        }
        for (one, other) in self.keys(value.py()).iter().zip(found.keys(value.py()).iter()) {
            let equal = one.is(&other) || one.get_type().is(other.get_type()) && one.eq(&other)?;
            if !equal {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Gives the `set`, or instance of a derived class, this shape, with these keys.
    #[pyo3(signature = (set, *keys))]
    fn give(&self, set: &Bound<'_, PySet>, keys: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.assume(set, keys)
    }

    /// A new set of this shape with these keys.
    #[pyo3(signature = (*keys))]
    fn make<'py>(&self, keys: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PySet>> {
        self.filled(keys)
    }
}

unsafe extern "C" {
    static _PySet_Dummy: *mut ffi::PyObject;
}

/// What stands where a key was removed.
pub(super) fn dummy() -> *mut ffi::PyObject {
    // SAFETY: a constant of the interpreter.
    unsafe { _PySet_Dummy }
}

/// The object that stands where a key was removed.
pub(crate) fn removed(py: Python<'_>) -> Bound<'_, PyAny> {
    // SAFETY: a constant of the interpreter.
    unsafe { Bound::from_borrowed_ptr(py, dummy()) }
}

/// Whether this is a set, laid out as this file says: instances of derived classes begin as one.
pub(super) fn is_laid_out(set: &Bound<'_, PyAny>) -> PyResult<bool> {
    let class = match (set.is_instance_of::<PySet>(), set.is_instance_of::<PyFrozenSet>()) {
        (true, _) => set.py().get_type::<PySet>(),
        (_, true) => set.py().get_type::<PyFrozenSet>(),
        _ => return Ok(false),
    };
    let size: usize = class.getattr(name!("__basicsize__"))?.extract()?;
    Ok(size == size_of::<SetObject>())
}
