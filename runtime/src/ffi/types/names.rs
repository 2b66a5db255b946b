//! Names of live types, and text of objects.
use super::flags::{flags, is_heap, is_immutable};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};
use std::borrow::Cow;
use std::ffi::CStr;

/// A string as it is, anything else as `str()` gives it. Even for a string `str()` handles signals first; what a handler raises
/// would be lost here: one that waits goes on waiting.
#[must_use]
pub fn text<T>(object: &Bound<'_, T>) -> String {
    let object = object.as_any();
    match object.cast::<PyString>() {
        Ok(text) => text.to_string_lossy().into_owned(),
        Err(_) => object.to_string(),
    }
}

/// `tp_name`: with the module for C types.
#[must_use]
pub fn name(class: &Bound<'_, PyType>) -> String {
    // SAFETY: `tp_name` of a live type is a NUL-terminated string that lives as long.
    unsafe { CStr::from_ptr((*class.as_type_ptr()).tp_name) }.to_string_lossy().into_owned()
}

/// What follows the last dot of `tp_name`: the class's own name.
#[must_use]
pub fn last_name<'a>(class: &'a Bound<'_, PyType>) -> Cow<'a, str> {
    // SAFETY: `tp_name` of a live type is a NUL-terminated string that lives as long, unless code of Python sets another one.
    let name = unsafe { CStr::from_ptr((*class.as_type_ptr()).tp_name) }.to_bytes();
    let from = name.iter().rposition(|byte| *byte == b'.').map_or(0, |dot| dot + 1);
    String::from_utf8_lossy(&name[from..])
}

/// Whether `tp_name` begins with a text that is not empty.
#[must_use]
pub fn is_named(class: &Bound<'_, PyType>, beginning: &str) -> bool {
    // SAFETY: `tp_name` of a live type is a NUL-terminated string that lives as long; a NUL is unlike all that is looked for.
    let name = unsafe { (*class.as_type_ptr()).tp_name }.cast::<u8>();
    // SAFETY: as above; nothing is read beyond the first byte that differs.
    beginning.bytes().enumerate().all(|(index, byte)| byte != 0 && unsafe { *name.add(index) } == byte)
}

/// Whether a class that C made has this name for its `tp_name`: what [`c_name`] gives, compared before anything is made of it.
#[must_use]
pub fn is_c_class(class: &Bound<'_, PyType>, name: &str) -> bool {
    is_called(class, name) && (!is_heap(class) || is_immutable(class) || c_name(class) == name)
}

/// Whether `tp_name` is this name.
#[must_use]
pub fn is_called(class: &Bound<'_, PyType>, name: &str) -> bool {
    // SAFETY: `tp_name` of a live type is a NUL-terminated string that lives as long; it has a byte behind those that it begins with.
    is_named(class, name) && unsafe { *(*class.as_type_ptr()).tp_name.add(name.len()) } == 0
}

/// A name of C.
pub(in crate::ffi) fn utf8(name: &CStr) -> Cow<'_, str> {
    if name.to_bytes().is_ascii() {
        // SAFETY: ASCII is UTF-8; `from_utf8` takes its time over short texts.
        return Cow::Borrowed(unsafe { std::str::from_utf8_unchecked(name.to_bytes()) });
    }
    name.to_string_lossy()
}

/// `tp_name` of a class that C made; empty for a class of Python code, whatever it calls itself.
#[must_use]
pub fn c_name<'a>(class: &'a Bound<'_, PyType>) -> Cow<'a, str> {
    /// Every class that a `class` statement or `type()` makes may have subclasses.
    const BASETYPE: u64 = 1 << 10;
    // SAFETY: `tp_name` of a live type is a NUL-terminated string that lives as long, unless code of Python sets another one.
    let name = unsafe { CStr::from_ptr((*class.as_type_ptr()).tp_name) };
    if !is_heap(class) || is_immutable(class) {
        return utf8(name);
    }
    if flags(class) & BASETYPE != 0 && !name.to_bytes().contains(&b'.') {
        return Cow::Borrowed("");
    }
    let name = name.to_string_lossy().into_owned();
    if flags(class) & BASETYPE == 0 {
        return Cow::Owned(name);
    }
    // C may make changeable classes too: they are what their module says they are.
    let found = name.rsplit_once('.').and_then(|(module, attribute)| {
        let module = crate::ffi::modules::imported(&PyString::new(class.py(), module))?;
        module.getattr(attribute).ok()
    });
    if found.is_some_and(|found| found.is(class)) { Cow::Owned(name) } else { Cow::Borrowed("") }
}

/// Whether a function has made the class, as its `__qualname__` says.
#[must_use]
pub fn is_local(class: &Bound<'_, PyType>) -> bool {
    if !is_heap(class) || is_immutable(class) {
        return false;
    }
    // SAFETY: a live heap type has a qualified name, which is a text.
    let name = unsafe {
        Bound::from_borrowed_ptr_or_opt(class.py(), (*class.as_type_ptr().cast::<ffi::PyHeapTypeObject>()).ht_qualname)
    };
    name.is_some_and(|name| name.cast::<PyString>().is_ok_and(|name| name.to_string_lossy().contains("<locals>")))
}

/// Whether a class of Python code goes by the same `__name__` and `__qualname__` as another.
#[must_use]
pub fn has_names_of(class: &Bound<'_, PyType>, other: &Bound<'_, PyType>) -> bool {
    if !is_heap(class) || !is_heap(other) {
        return false;
    }
    // SAFETY: both are live heap types, whose names are live strings; `tp_name` is NUL-terminated and lives as long.
    unsafe {
        let (one, two) = (class.as_type_ptr(), other.as_type_ptr());
        let qualname = |class: *mut ffi::PyTypeObject| (*class.cast::<ffi::PyHeapTypeObject>()).ht_qualname;
        qualname(one) == qualname(two) && CStr::from_ptr((*one).tp_name) == CStr::from_ptr((*two).tp_name)
    }
}

/// The module that a class of C was made for; `None` for classes that C knows by no module.
#[must_use]
pub fn module<'py>(class: &Bound<'py, PyType>) -> Option<Bound<'py, PyAny>> {
    // SAFETY: the answer is NULL with an exception set, or a reference of the class's own.
    let module = unsafe { Bound::from_borrowed_ptr_or_err(class.py(), ffi::PyType_GetModule(class.as_type_ptr())) };
    module.ok()
}
