//! Bits of `tp_flags`, by their names without `Py_TPFLAGS_`. CPython: Include/object.h.
use pyo3::ffi;

macro_rules! flags {
    ($($name:ident = $bit:expr;)*) => {
        $(#[doc = concat!("`Py_TPFLAGS_", stringify!($name), "`.")] pub const $name: u64 = $bit as u64;)*
    };
}

flags! {
    SEQUENCE = ffi::Py_TPFLAGS_SEQUENCE;
    MAPPING = ffi::Py_TPFLAGS_MAPPING;
    IMMUTABLETYPE = ffi::Py_TPFLAGS_IMMUTABLETYPE;
    HEAPTYPE = ffi::Py_TPFLAGS_HEAPTYPE;
    BASETYPE = ffi::Py_TPFLAGS_BASETYPE;
    READY = ffi::Py_TPFLAGS_READY;
    HAVE_GC = ffi::Py_TPFLAGS_HAVE_GC;
    LONG_SUBCLASS = ffi::Py_TPFLAGS_LONG_SUBCLASS;
    LIST_SUBCLASS = ffi::Py_TPFLAGS_LIST_SUBCLASS;
    TUPLE_SUBCLASS = ffi::Py_TPFLAGS_TUPLE_SUBCLASS;
    BYTES_SUBCLASS = ffi::Py_TPFLAGS_BYTES_SUBCLASS;
    UNICODE_SUBCLASS = ffi::Py_TPFLAGS_UNICODE_SUBCLASS;
    DICT_SUBCLASS = ffi::Py_TPFLAGS_DICT_SUBCLASS;
    BASE_EXC_SUBCLASS = ffi::Py_TPFLAGS_BASE_EXC_SUBCLASS;
}

/// `_Py_TPFLAGS_MATCH_SELF`.
pub const MATCH_SELF: u64 = 1 << 22;

/// Any of those by which C tells numbers, text and containers.
pub const DATA_SUBCLASS: u64 =
    LONG_SUBCLASS | LIST_SUBCLASS | TUPLE_SUBCLASS | BYTES_SUBCLASS | UNICODE_SUBCLASS | DICT_SUBCLASS;
