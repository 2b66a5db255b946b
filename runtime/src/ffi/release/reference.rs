//! What a slot of a frame holds: a pointer up to 3.13; later a `_PyStackRef`, whose lowest bit says that the slot does not count as one
//! of its object's references: the object is immortal, or something else keeps it alive. Two bits say that it is a small integer, not
//! an object.
use pyo3::ffi;

/// The contents of a slot of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Reference(usize);

/// Whether the lower bits mean something.
const TAGGED: bool = cfg!(Py_3_14);

/// `Py_TAG_REFCNT`.
const UNCOUNTED: usize = TAGGED as usize;

/// `Py_INT_TAG`, in the bits that tell an integer.
const INTEGER: usize = 3;

impl Reference {
    /// Of a slot without a value: `PyStackRef_NULL`.
    pub const EMPTY: Self = Self(UNCOUNTED);

    /// The slot takes over the caller's reference; NULL leaves it empty.
    ///
    /// # Safety
    /// NULL, or an owned reference to a live object.
    pub unsafe fn owned(object: *mut ffi::PyObject) -> Self {
        // SAFETY: as the caller promises.
        let uncounted = TAGGED && (object.is_null() || unsafe { is_immortal(object) });
        Self(object as usize | usize::from(uncounted))
    }

    /// The object, which the slot keeps alive; NULL where it is empty or holds an integer.
    #[must_use]
    pub fn object(self) -> *mut ffi::PyObject {
        if self.is_integer() { std::ptr::null_mut() } else { (self.0 & !UNCOUNTED) as *mut ffi::PyObject }
    }

    /// Whether the slot is one of the references that its object counts.
    #[must_use]
    pub fn counts(self) -> bool {
        let uncounted = TAGGED && self.0 % 2 == 1;
        self.0 != 0 && !uncounted
    }

    /// The integer in it.
    #[must_use]
    pub fn integer(self) -> Option<isize> {
        self.is_integer().then_some((self.0.cast_signed()) >> 2)
    }

    /// A slot that holds an integer; `None` up to 3.13.
    #[must_use]
    pub fn of_integer(integer: isize) -> Option<Self> {
        TAGGED.then_some(Self((integer << 2).cast_unsigned() | INTEGER))
    }

    fn is_integer(self) -> bool {
        TAGGED && self.0 & INTEGER == INTEGER
    }
}

/// Whether the object's references are not counted.
///
/// # Safety
/// A live object.
unsafe fn is_immortal(object: *mut ffi::PyObject) -> bool {
    // SAFETY: as the caller promises; the count begins the object, and its lower half is negative for immortal ones.
    unsafe { *object.cast::<i32>() < 0 }
}
