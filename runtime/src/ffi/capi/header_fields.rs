//! Fields of live objects that macros and inline functions of the headers read: strings, integers, sequences, types.
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple, PyType};

/// The bits in a string's head.
struct State {
    interned: u32,
    kind: u32,
    compact: u32,
    ascii: u32,
}

impl State {
    #[cfg(not(Py_3_14))]
    fn of(head: &ffi::PyASCIIObject) -> Self {
        // SAFETY: the head of a live string.
        let (interned, kind, compact, ascii) = unsafe { (head.interned(), head.kind(), head.compact(), head.ascii()) };
        Self { interned, kind, compact, ascii }
    }

    /// From 3.14 on PyO3 does not read them; they lie as before: two bits, three, one, one.
    #[cfg(Py_3_14)]
    fn of(head: &ffi::PyASCIIObject) -> Self {
        let bits = |from: u32, count: u32| head.state >> from & ((1 << count) - 1);
        Self { interned: bits(0, 2), kind: bits(2, 3), compact: bits(5, 1), ascii: bits(6, 1) }
    }
}

/// What a macro or a member of a string's head says; nothing for what is no string, and for names of other things.
pub(crate) fn unicode(name: &str, object: &Bound<'_, PyAny>) -> Option<i128> {
    let string = object.cast::<PyString>().ok()?.as_ptr();
    // SAFETY: a live string, whose struct begins with a `PyASCIIObject`.
    unsafe {
        let head = &*string.cast::<ffi::PyASCIIObject>();
        let state = State::of(head);
        Some(match name {
            "PyUnicode_IS_READY" => i128::from(ffi::PyUnicode_IS_READY(string)),
            "PyUnicode_READY" if ffi::PyUnicode_IS_READY(string) != 0 => 0,
            "PyUnicode_IS_COMPACT" | "PyASCIIObject_state_compact" => i128::from(state.compact),
            "PyUnicode_IS_ASCII" | "PyASCIIObject_state_ascii" => i128::from(state.ascii),
            "PyUnicode_IS_COMPACT_ASCII" => i128::from(state.ascii != 0 && state.compact != 0),
            "PyUnicode_KIND" | "PyASCIIObject_state_kind" => i128::from(state.kind),
            "PyUnicode_CHECK_INTERNED" | "PyASCIIObject_state_interned" => i128::from(state.interned),
            "PyASCIIObject_hash" => head.hash as i128,
            "PyASCIIObject_length" => head.length as i128,
            "PyUnicode_MAX_CHAR_VALUE" => match (state.ascii, state.kind) {
                (1.., _) => 0x7f,
                (_, 1) => 0xff,
                (_, 2) => 0xffff,
                _ => 0x10_ffff,
            },
            _ => return None,
        })
    }
}

/// `Py_REFCNT`.
pub(crate) fn references(object: &Bound<'_, PyAny>) -> isize {
    // SAFETY: a live object.
    unsafe { ffi::Py_REFCNT(object.as_ptr()) as isize }
}

/// What an inline function says of an integer's digits.
#[cfg(Py_3_12)]
pub(crate) fn long(name: &str, object: &Bound<'_, PyAny>) -> Option<i128> {
    let number = object.cast::<pyo3::types::PyInt>().ok()?.as_ptr().cast::<u8>();
    // SAFETY: a live integer: after the head, a tag (the sign in two bits, one reserved, the number of digits) and at least one digit.
    let (tag, digit) = unsafe {
        let tag = number.add(size_of::<ffi::PyObject>());
        (*tag.cast::<usize>(), *tag.add(size_of::<usize>()).cast::<u32>())
    };
    let (sign, digits) = (1 - (tag & 3) as i128, tag >> 3);
    Some(match name {
        "_PyLong_IsCompact" => i128::from(digits < 2),
        "_PyLong_CompactValue" if digits < 2 => sign * i128::from(digit),
        "_PyLong_DigitCount" => digits as i128,
        "_PyLong_IsNegative" => i128::from(sign == -1),
        "_PyLong_IsPositive" => i128::from(sign == 1),
        "_PyLong_IsZero" => i128::from(sign == 0),
        "_PyLong_IsNonNegativeCompact" => i128::from(digits < 2 && sign != -1),
        "_PyLong_NonCompactSign" => sign,
        _ => return None,
    })
}

/// Before 3.12 the digits are counted by `Py_SIZE`.
#[cfg(not(Py_3_12))]
pub(crate) fn long(_: &str, _: &Bound<'_, PyAny>) -> Option<i128> {
    None
}

/// A number in a type object.
pub(crate) fn type_number(name: &str, class: &Bound<'_, PyType>) -> Option<i128> {
    // SAFETY: a live type object, of which fields are read.
    let class = unsafe { &*class.as_type_ptr() };
    Some(match name {
        "PyTypeObject_tp_basicsize" | "_PyObject_SIZE" => class.tp_basicsize as i128,
        "PyTypeObject_tp_itemsize" => class.tp_itemsize as i128,
        "PyTypeObject_tp_weaklistoffset" => class.tp_weaklistoffset as i128,
        "_PyType_SUPPORTS_WEAKREFS" => i128::from(class.tp_weaklistoffset != 0),
        "PyTypeObject_tp_dictoffset" => class.tp_dictoffset as i128,
        "PyTypeObject_tp_version_tag" => i128::from(class.tp_version_tag),
        _ => return None,
    })
}

/// An object in a type object, or NULL there; nothing for other names.
pub(crate) fn type_object<'py>(name: &str, class: &Bound<'py, PyType>) -> Option<Option<Bound<'py, PyAny>>> {
    // SAFETY: a live type object, whose fields hold NULL or live objects.
    unsafe {
        let fields = &*class.as_type_ptr();
        let found = match name {
            "PyTypeObject_tp_dict" => fields.tp_dict,
            "PyTypeObject_tp_bases" => fields.tp_bases,
            "PyTypeObject_tp_mro" => fields.tp_mro,
            "PyTypeObject_tp_base" => fields.tp_base.cast(),
            _ => return None,
        };
        Some(Bound::from_borrowed_ptr_or_opt(class.py(), found))
    }
}

/// The item at an index of a tuple or a list, NULL or not; nothing for other objects and beyond the end.
pub(crate) fn item<'py>(object: &Bound<'py, PyAny>, index: isize) -> Option<Option<Bound<'py, PyAny>>> {
    let (tuple, list) = (object.is_instance_of::<PyTuple>(), object.is_instance_of::<PyList>());
    // SAFETY: a live tuple or list, and an index inside it.
    unsafe {
        if !(tuple || list) || index < 0 || index >= ffi::Py_SIZE(object.as_ptr()) {
            return None;
        }
        let at = object.as_ptr();
        let item = if tuple { ffi::PyTuple_GET_ITEM(at, index) } else { ffi::PyList_GET_ITEM(at, index) };
        Some(Bound::from_borrowed_ptr_or_opt(object.py(), item))
    }
}

/// `PyTuple_SET_ITEM`, `PyList_SET_ITEM`: fills an item that is not filled yet; nothing for other objects and beyond the end.
pub(crate) fn set_item(object: &Bound<'_, PyAny>, index: isize, value: Option<&Bound<'_, PyAny>>) -> Option<()> {
    if item(object, index)?.is_some() {
        return None;
    }
    let (at, value) = (object.as_ptr(), value.map_or(std::ptr::null_mut(), |value| value.clone().into_ptr()));
    // SAFETY: a live tuple or list with NULL at this index, which takes the reference over.
    unsafe {
        match object.is_instance_of::<PyTuple>() {
            true => ffi::PyTuple_SET_ITEM(at, index, value),
            false => ffi::PyList_SET_ITEM(at, index, value),
        }
    }
    Some(())
}

/// A tuple of another size with the same items, as many as fit; what is new is not filled yet.
///
/// # Errors
/// `MemoryError`.
pub(crate) fn resized<'py>(tuple: &Bound<'py, PyAny>, size: isize) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: a new tuple, filled below.
    let made = unsafe { Bound::from_owned_ptr_or_err(tuple.py(), ffi::PyTuple_New(size))? };
    for index in 0..size {
        if let Some(Some(item)) = item(tuple, index) {
            set_item(&made, index, Some(&item));
        }
    }
    Ok(made)
}

/// All items of a tuple or a list; nothing if one is NULL.
pub(crate) fn items<'py>(object: &Bound<'py, PyAny>) -> Option<Vec<Bound<'py, PyAny>>> {
    let size = super::exported::size(object)?;
    (0..size).map(|index| item(object, index).flatten()).collect()
}

/// `tp_alloc` of a type for `items` items: an object of zeroes.
///
/// # Errors
/// `MemoryError`.
pub(crate) fn allocate<'py>(
    class: &Bound<'py, PyType>,
    pointer: Option<usize>,
    items: isize,
) -> PyResult<Bound<'py, PyAny>> {
    type Allocate = unsafe extern "C" fn(*mut ffi::PyTypeObject, isize) -> *mut ffi::PyObject;
    // SAFETY: the pointer was read from the slot `tp_alloc`, whose signature this is; the type is live.
    unsafe {
        let made = match pointer {
            Some(pointer) => std::mem::transmute::<usize, Allocate>(pointer)(class.as_type_ptr(), items),
            None => ffi::PyType_GenericAlloc(class.as_type_ptr(), items),
        };
        Bound::from_owned_ptr_or_err(class.py(), made)
    }
}

/// `sendfunc`: what it answers (return 0, error -1, next 1), and the result.
///
/// # Errors
/// The exception that the function sets.
pub(crate) fn send<'py>(
    pointer: usize,
    iterator: &Bound<'py, PyAny>,
    value: &Bound<'py, PyAny>,
) -> PyResult<(i32, Option<Bound<'py, PyAny>>)> {
    type Object = *mut ffi::PyObject;
    type Send = unsafe extern "C" fn(Object, Object, *mut Object) -> i32;
    let mut result: Object = std::ptr::null_mut();
    // SAFETY: the pointer was read from the slot `am_send`; the arguments are live, and the result is a new reference or NULL.
    unsafe {
        let answer = std::mem::transmute::<usize, Send>(pointer)(iterator.as_ptr(), value.as_ptr(), &mut result);
        let result = Bound::from_owned_ptr_or_opt(iterator.py(), result);
        if answer == -1 { Err(PyErr::fetch(iterator.py())) } else { Ok((answer, result)) }
    }
}
