//! How a call went: the codes of both headers.

/// How a call went. Codes are never given another meaning; new ones may be added.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum slotrt_status {
    /// The call did what it says.
    SLOTRT_OK = 0,
    /// A pointer that must not be NULL is NULL.
    SLOTRT_NULL_ARGUMENT = 1,
    /// The tables do not hold the release.
    SLOTRT_UNKNOWN_RELEASE = 2,
    /// An index is not below the count of its table.
    SLOTRT_OUT_OF_RANGE = 3,
    /// The release has nothing of that name or number.
    SLOTRT_NOT_FOUND = 4,
    /// The release has it, but what was asked about it is not known.
    SLOTRT_NOT_KNOWN = 5,
    /// The caller was compiled against a version that this library does not serve.
    SLOTRT_WRONG_VERSION = 6,
    /// An argument is not one that the function takes.
    SLOTRT_BAD_ARGUMENT = 7,
    /// No interpreter is running in this process, or it is being finalised.
    SLOTRT_NO_INTERPRETER = 20,
    /// The calling thread does not hold the GIL.
    SLOTRT_NO_GIL = 21,
    /// The runtime belongs to another interpreter than the one that the thread runs in.
    SLOTRT_OTHER_INTERPRETER = 22,
    /// The interpreter is of another release than the one that the library was built for.
    SLOTRT_OTHER_RELEASE = 23,
    /// The handle was closed, or never was one of this library.
    SLOTRT_CLOSED = 24,
    /// Another evaluation hook, or another copy of this library, is in the way.
    SLOTRT_OCCUPIED = 25,
    /// A Python exception was raised; its text is in the last error.
    SLOTRT_PYTHON_ERROR = 26,
    /// A fault of this library; please report it with the text.
    SLOTRT_INTERNAL = 27,
}

pub use slotrt_status::*;
