//! Objects and words of memory that stay as they are while a watch holds: read at once, without the path that leads to them.
use super::invalidation::Invalidation;
use crate::ffi::held::Held;
use pyo3::ffi;
use pyo3::prelude::*;
use std::sync::Arc;

unsafe extern "C" {
    /// Where an instance keeps its `__dict__`, which is made if need be; NULL where its class has no place for one.
    fn _PyObject_GetDictPtr(object: *mut ffi::PyObject) -> *mut *mut ffi::PyObject;
}

/// The value of a watched entry. The dict holds it, and lives, for as long as the watch holds: both would be told before they happen.
#[derive(Clone, Debug)]
pub struct Kept {
    address: usize,
    invalidation: Arc<Invalidation>,
}

impl Kept {
    /// The value that a dict has now under a key whose entry has just been watched.
    pub(super) fn new(value: &Bound<'_, PyAny>, invalidation: &Arc<Invalidation>) -> Self {
        Self { address: value.as_ptr() as usize, invalidation: Arc::clone(invalidation) }
    }

    /// The object; `None` once the watch does not hold.
    #[must_use]
    #[inline]
    pub fn get<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        if self.invalidation.cause().is_some() {
            return None;
        }
        // SAFETY: attached, and nothing has been told of: the watched dict still holds the object.
        Some(unsafe { Bound::from_borrowed_ptr(py, self.address as *mut ffi::PyObject) })
    }

    /// Whether both are the same object, as long as both watches hold.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        self.address == other.address
    }
}

/// How an object is known to live when its memory is read.
#[derive(Clone, Debug)]
pub enum Owner {
    /// A watched dict holds it.
    Kept(Kept),
    /// Whoever reads names it.
    Held(Arc<Held>),
    /// Whoever reads has it at hand in the same call, at this address.
    AtHand(usize),
}

impl Owner {
    /// Where the object lies, if it lives.
    #[inline]
    fn address(&self, py: Python<'_>, at_hand: impl Fn(usize) -> bool) -> Option<usize> {
        match self {
            Self::Kept(kept) => kept.invalidation.cause().is_none().then_some(kept.address),
            Self::Held(object) => object.address(py),
            Self::AtHand(address) => Some(*address).filter(|address| at_hand(*address)),
        }
    }
}

/// A word of an object's memory, and what it was: which class it has, or which `__dict__`.
#[derive(Clone, Debug)]
pub struct Word {
    owner: Owner,
    object: usize,
    /// Within the object; its memory is the same whichever class it is given. CPython: `compatible_for_assignment`.
    offset: isize,
    value: usize,
    /// What the caller calls it.
    pub mark: u32,
}

impl Word {
    fn new(owner: &Owner, object: &Bound<'_, PyAny>, offset: isize, mark: u32) -> Option<Self> {
        let address = object.as_ptr() as usize;
        let mut word = Self { owner: owner.clone(), object: address, offset, value: 0, mark };
        word.value = word.now(object.py(), |address| address == object.as_ptr() as usize)?;
        Some(word)
    }

    /// The class that an object has. Something must tell of the end of the class for as long as the word is looked at.
    #[must_use]
    pub fn of_class(owner: &Owner, object: &Bound<'_, PyAny>, mark: u32) -> Option<Self> {
        Self::new(owner, object, std::mem::offset_of!(ffi::PyObject, ob_type).cast_signed(), mark)
    }

    /// The `__dict__` that an instance has, which is this dict. Something must tell of the dict's end for as long as the word is looked at.
    #[must_use]
    pub fn of_namespace(owner: &Owner, object: &Bound<'_, PyAny>, dict: &Bound<'_, PyAny>, mark: u32) -> Option<Self> {
        // SAFETY: the object is live.
        let place = unsafe { _PyObject_GetDictPtr(object.as_ptr()) };
        if place.is_null() {
            return None;
        }
        let offset = (place as isize).wrapping_sub(object.as_ptr() as isize);
        Self::new(owner, object, offset, mark).filter(|word| word.value == dict.as_ptr() as usize)
    }

    fn now(&self, py: Python<'_>, at_hand: impl Fn(usize) -> bool) -> Option<usize> {
        if self.owner.address(py, at_hand)? != self.object {
            return None;
        }
        // SAFETY: attached; the object lives, and its memory has an aligned word at this offset.
        Some(unsafe { *(self.object.wrapping_add_signed(self.offset) as *const usize) })
    }

    /// Whether the object lives, and the word is what it was; `at_hand` says whether the caller has the object that lies there.
    #[must_use]
    #[inline]
    pub fn holds(&self, py: Python<'_>, at_hand: impl Fn(usize) -> bool) -> bool {
        self.now(py, at_hand) == Some(self.value)
    }
}
