//! Data of live objects behind what macros and inline functions of the headers give: characters, bytes, digits, tables, items, dictionaries.
use super::exported;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyFrozenSet, PySet, PyString};

type Object = *mut ffi::PyObject;

/// `PyUnicode_DATA`: where the characters of a string lie.
pub(crate) fn characters(string: &Bound<'_, PyString>) -> usize {
    // SAFETY: a live string; all are ready since 3.12, and before it those that a program can get hold of.
    unsafe { ffi::PyUnicode_DATA(string.as_ptr()) as usize }
}

/// `PyUnicode_READ`; nothing for kinds that there are not.
pub(crate) fn character(kind: i32, data: usize, index: isize) -> Option<u32> {
    // SAFETY: a translated function got the place from `PyUnicode_DATA` of a string of this kind, and stays inside it as C does.
    unsafe {
        Some(match kind {
            1 => u32::from(*(data as *const u8).offset(index)),
            2 => u32::from(*(data as *const u16).offset(index)),
            4 => *(data as *const u32).offset(index),
            _ => return None,
        })
    }
}

/// The bytes of `bytes` and `bytearray` as a text; nothing for other objects, and for bytes that are no UTF-8.
pub(crate) fn bytes(object: &Bound<'_, PyAny>) -> Option<String> {
    let bytes = match object.cast::<PyBytes>() {
        Ok(bytes) => bytes.as_bytes().to_vec(),
        Err(_) => object.cast::<PyByteArray>().ok()?.to_vec(),
    };
    String::from_utf8(bytes).ok()
}

/// So many bytes at a place as a text; nothing for bytes that are no UTF-8.
pub(crate) fn text(place: usize, size: usize) -> Option<String> {
    // SAFETY: a `Py_buffer` that C filled says that these bytes are there.
    let bytes = unsafe { std::slice::from_raw_parts(place as *const u8, size) };
    String::from_utf8(bytes.to_vec()).ok()
}

/// Calls a `getbufferproc` with the place of a `Py_buffer`.
///
/// # Errors
/// The exception that the function sets.
pub(crate) fn get_buffer(function: usize, of: &Bound<'_, PyAny>, view: usize, flags: i32) -> PyResult<i32> {
    type Get = unsafe extern "C" fn(Object, usize, i32) -> i32;
    // SAFETY: the function was read from the slot `bf_getbuffer` of this object's type; the place is room for the struct.
    let answer = unsafe { std::mem::transmute::<usize, Get>(function)(of.as_ptr(), view, flags) };
    if answer == -1 { Err(PyErr::fetch(of.py())) } else { Ok(answer) }
}

/// Calls a `releasebufferproc` with the place of a `Py_buffer`.
pub(crate) fn release_buffer(function: usize, of: &Bound<'_, PyAny>, view: usize) {
    type Release = unsafe extern "C" fn(Object, usize);
    // SAFETY: the function was read from the slot `bf_releasebuffer` of the type whose `bf_getbuffer` filled the struct.
    unsafe { std::mem::transmute::<usize, Release>(function)(of.as_ptr(), view) }
}

/// A digit of an integer; nothing for other objects and beyond the end.
#[cfg(Py_3_12)]
pub(crate) fn digit(object: &Bound<'_, PyAny>, index: isize) -> Option<i128> {
    let count = super::header_fields::long("_PyLong_DigitCount", object)?;
    // Zero has a digit, too, which is not counted.
    let index = usize::try_from(index).ok().filter(|index| (*index as i128) < count.max(1))?;
    // SAFETY: a live integer: after the head and a tag, as many digits.
    unsafe {
        let digits = object.as_ptr().cast::<u8>().add(size_of::<ffi::PyObject>() + size_of::<usize>());
        Some(i128::from(*digits.cast::<u32>().add(index)))
    }
}

/// Before 3.12 the digits lie elsewhere.
#[cfg(not(Py_3_12))]
pub(crate) fn digit(_: &Bound<'_, PyAny>, _: isize) -> Option<i128> {
    None
}

/// Where the pointer to a set's table lies, and the small table in the set itself; nothing for other objects.
fn tables(object: &Bound<'_, PyAny>) -> Option<(*mut usize, usize)> {
    (object.is_instance_of::<PySet>() || object.is_instance_of::<PyFrozenSet>()).then_some(())?;
    // SAFETY: a live set, whose struct has three numbers after its head, the pointer, two more numbers and the table.
    unsafe {
        let fields = object.as_ptr().cast::<u8>().add(size_of::<ffi::PyObject>()).cast::<usize>();
        Some((fields.add(3), fields.add(6) as usize))
    }
}

/// The table of a set that lies in the set itself.
pub(crate) fn small_table(object: &Bound<'_, PyAny>) -> Option<usize> {
    tables(object).map(|(_, small)| small)
}

/// Has a set without a table use the one in itself; nothing for other tables and other sets.
pub(crate) fn set_table(object: &Bound<'_, PyAny>, table: usize) -> Option<()> {
    let (place, small) = tables(object).filter(|(_, small)| *small == table)?;
    // SAFETY: the pointer of a set that is being made: NULL, as it was allocated.
    unsafe {
        if *place != 0 && *place != small {
            return None;
        }
        *place = small;
    }
    Some(())
}

/// Sets an item of a list, which then owns a reference; what it was is given up. Nothing for other objects and beyond the end.
pub(crate) fn set_list_item(list: &Bound<'_, PyAny>, index: isize, value: Option<&Bound<'_, PyAny>>) -> Option<()> {
    let old = super::header_fields::item(list, index).filter(|_| list.is_instance_of::<pyo3::types::PyList>())?;
    let value = value.map_or(std::ptr::null_mut(), |value| value.clone().into_ptr());
    // SAFETY: a live list and an index inside it; the list owned a reference to what was there.
    unsafe {
        ffi::PyList_SET_ITEM(list.as_ptr(), index, value);
        if let Some(old) = old {
            ffi::Py_DECREF(old.as_ptr());
        }
    }
    Some(())
}

/// Sets an item of a tuple that nobody else has and that has none there yet; nothing for others.
pub(crate) fn set_tuple_item(tuple: &Bound<'_, PyAny>, index: isize, value: &Bound<'_, PyAny>) -> Option<()> {
    let tuple = tuple.cast::<pyo3::types::PyTuple>().ok()?;
    usize::try_from(index).ok().filter(|index| *index < tuple.len())?;
    // SAFETY: a live tuple and an index inside it; what is there is NULL or live, and NULL is in no tuple that others have.
    unsafe {
        if !ffi::PyTuple_GET_ITEM(tuple.as_ptr(), index).is_null() {
            return None;
        }
        ffi::PyTuple_SET_ITEM(tuple.as_ptr(), index, value.clone().into_ptr());
    }
    Some(())
}

/// `_PyObject_GetManagedDict`: the dictionary before an instance, or NULL there; nothing for objects without such a place.
#[cfg(Py_3_13)]
pub(crate) fn managed_dict<'py>(object: &Bound<'py, PyAny>) -> Option<Option<Bound<'py, PyAny>>> {
    const MANAGED_DICT: std::ffi::c_ulong = 1 << 4;
    const WORDS_BEFORE: usize = 3;
    // SAFETY: a live object; where its type has this flag, a pointer to a dictionary lies three words before it.
    unsafe {
        if (*object.get_type().as_type_ptr()).tp_flags.cast_signed() as std::ffi::c_ulong & MANAGED_DICT == 0 {
            return None;
        }
        let dict = *object.as_ptr().cast::<Object>().sub(WORDS_BEFORE);
        Some(Bound::from_borrowed_ptr_or_opt(object.py(), dict))
    }
}

/// Before 3.13 something else may lie there.
#[cfg(not(Py_3_13))]
pub(crate) fn managed_dict<'py>(_: &Bound<'py, PyAny>) -> Option<Option<Bound<'py, PyAny>>> {
    None
}

/// `PyVectorcall_Function`: the address of a callable's vectorcall, 0 for none.
pub(crate) fn vectorcall(callable: &Bound<'_, PyAny>) -> usize {
    // SAFETY: a live object.
    unsafe { ffi::PyVectorcall_Function(callable.as_ptr()) }.map_or(0, |function| function as usize)
}

/// `PyErr_FormatUnraisable`, with a message that is made already; nothing where there is no such function.
pub(crate) fn unraisable(error: PyErr, message: &Bound<'_, PyString>) -> Option<()> {
    type Format = unsafe extern "C" fn(*const std::ffi::c_char, ...);
    let function = exported::address("PyErr_FormatUnraisable")?;
    error.restore(message.py());
    // SAFETY: the library's function of this name, with a format that takes the string, which is live.
    unsafe { std::mem::transmute::<usize, Format>(function)(c"%U".as_ptr(), message.as_ptr()) };
    Some(())
}
