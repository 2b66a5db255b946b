//! What the tracer needs to know of live types: slots, flags, MRO, attributes, version tags.
use super::flag;
use crate::names::name;
use generated::slots::{Slot, Suite};
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};
use std::borrow::Cow;
use std::ffi::CStr;

unsafe extern "C" {
    fn _PyType_Lookup(class: *mut ffi::PyTypeObject, name: *mut ffi::PyObject) -> *mut ffi::PyObject;
    #[cfg(Py_3_12)]
    fn PyType_GetDict(class: *mut ffi::PyTypeObject) -> *mut ffi::PyObject;
}

fn raw(class: &Bound<'_, PyType>) -> *mut ffi::PyTypeObject {
    class.as_type_ptr()
}

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

/// Address of a suite; `None` where the type has none.
#[must_use]
pub fn suite(class: &Bound<'_, PyType>, suite: Suite) -> Option<usize> {
    // SAFETY: `class` is a live type object; only its fields are read.
    let address = unsafe {
        let class = raw(class);
        match suite {
            Suite::PyTypeObject => class as usize,
            Suite::tp_as_async => (*class).tp_as_async as usize,
            Suite::tp_as_number => (*class).tp_as_number as usize,
            Suite::tp_as_sequence => (*class).tp_as_sequence as usize,
            Suite::tp_as_mapping => (*class).tp_as_mapping as usize,
            Suite::tp_as_buffer => (*class).tp_as_buffer as usize,
        }
    };
    (address != 0).then_some(address)
}

/// The function in a slot of a live type; `None` where the suite or the function is absent.
#[must_use]
pub fn slot(class: &Bound<'_, PyType>, slot: Slot) -> Option<usize> {
    slot_pointer(class, slot.suite(), slot.offset())
}

/// The function pointer at a byte offset of a suite; `None` where the suite or the function is absent, or the offset is
/// beyond what the suite's structure holds.
#[must_use]
pub fn slot_pointer(class: &Bound<'_, PyType>, at: Suite, offset: usize) -> Option<usize> {
    let size = match at {
        Suite::PyTypeObject => size_of::<ffi::PyTypeObject>(),
        Suite::tp_as_async => size_of::<ffi::PyAsyncMethods>(),
        Suite::tp_as_number => size_of::<ffi::PyNumberMethods>(),
        Suite::tp_as_sequence => size_of::<ffi::PySequenceMethods>(),
        Suite::tp_as_mapping => size_of::<ffi::PyMappingMethods>(),
        Suite::tp_as_buffer => size_of::<ffi::PyBufferProcs>(),
    };
    let fits = offset.checked_add(size_of::<usize>()).is_some_and(|end| end <= size);
    if !fits || !offset.is_multiple_of(align_of::<usize>()) {
        return None;
    }
    let base = suite(class, at)?;
    // SAFETY: the suite is a live structure of that size, and the aligned word lies inside it.
    let pointer = unsafe { *((base + offset) as *const usize) };
    (pointer != 0).then_some(pointer)
}

/// Empties a slot of a class of Python code: C that asks for it finds nothing. False if the class is none.
pub fn clear_slot(class: &Bound<'_, PyType>, slot: Slot) -> bool {
    let (Some(base), Some(_)) = (suite(class, slot.suite()), self::slot(class, slot)) else { return false };
    if !is_heap(class) {
        return false;
    }
    // SAFETY: the slot lies inside the suite, as reading it has shown; a heap type owns its suites, and CPython takes NULL for absent.
    unsafe { *((base + slot.offset()) as *mut usize) = 0 };
    true
}

/// Puts a function into a slot of a class of Python code.
///
/// # Safety
/// The function must have the slot's signature.
pub unsafe fn set_slot(class: &Bound<'_, PyType>, slot: Slot, function: usize) {
    if let Some(base) = suite(class, slot.suite()).filter(|_| is_heap(class)) {
        // SAFETY: the slot lies inside the suite, which a heap type owns; the caller promises the signature.
        unsafe { *((base + slot.offset()) as *mut usize) = function };
    }
}

/// Whether the class was made at run time.
#[must_use]
pub fn is_heap(class: &Bound<'_, PyType>) -> bool {
    has(class, flag::HEAPTYPE)
}

/// Whether nobody can set attributes of the class.
#[must_use]
pub fn is_immutable(class: &Bound<'_, PyType>) -> bool {
    has(class, flag::IMMUTABLETYPE)
}

/// `tp_flags`.
#[must_use]
pub fn flags(class: &Bound<'_, PyType>) -> u64 {
    // SAFETY: `class` is a live type object.
    unsafe { ffi::PyType_GetFlags(raw(class)) as u64 }
}

/// Whether `tp_flags` has one of these bits.
#[must_use]
pub fn has(class: &Bound<'_, PyType>, flags: u64) -> bool {
    self::flags(class) & flags != 0
}

/// Whether instances have fields that those of `tp_base` have not: slots, or places for weak references or a dict.
#[must_use]
pub fn adds_fields(class: &Bound<'_, PyType>) -> bool {
    // SAFETY: `class` is a live type object; its base, if it has one, is another.
    unsafe {
        let class = raw(class);
        let base = (*class).tp_base;
        base.is_null() || (*class).tp_basicsize != (*base).tp_basicsize
    }
}

/// Whether instances have fields of C's own: others than a `__dict__` and a list of weak references.
#[must_use]
pub fn has_own_fields(class: &Bound<'_, PyType>) -> bool {
    // SAFETY: `class` is a live type object.
    let size = unsafe { (*raw(class)).tp_basicsize };
    let common = [dictoffset(class), weaklistoffset(class)].into_iter().filter(|offset| *offset > 0).count();
    size > (size_of::<ffi::PyObject>() + common * size_of::<*mut ffi::PyObject>()).cast_signed()
}

/// `tp_name`: with the module for C types.
#[must_use]
pub fn name(class: &Bound<'_, PyType>) -> String {
    // SAFETY: `tp_name` of a live type is a NUL-terminated string that lives as long.
    unsafe { CStr::from_ptr((*raw(class)).tp_name) }.to_string_lossy().into_owned()
}

/// What follows the last dot of `tp_name`: the class's own name.
#[must_use]
pub fn last_name<'a>(class: &'a Bound<'_, PyType>) -> Cow<'a, str> {
    // SAFETY: `tp_name` of a live type is a NUL-terminated string that lives as long, unless code of Python sets another one.
    let name = unsafe { CStr::from_ptr((*raw(class)).tp_name) }.to_bytes();
    let from = name.iter().rposition(|byte| *byte == b'.').map_or(0, |dot| dot + 1);
    String::from_utf8_lossy(&name[from..])
}

/// Whether `tp_name` begins with a text that is not empty.
#[must_use]
pub fn is_named(class: &Bound<'_, PyType>, beginning: &str) -> bool {
    // SAFETY: `tp_name` of a live type is a NUL-terminated string that lives as long; a NUL is unlike all that is looked for.
    let name = unsafe { (*raw(class)).tp_name }.cast::<u8>();
    // SAFETY: as above; nothing is read beyond the first byte that differs.
    beginning.bytes().enumerate().all(|(index, byte)| byte != 0 && unsafe { *name.add(index) } == byte)
}

/// A name of C.
pub(super) fn utf8(name: &CStr) -> Cow<'_, str> {
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
    let name = unsafe { CStr::from_ptr((*raw(class)).tp_name) };
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
        let modules = class.py().import("sys").and_then(|sys| sys.getattr(name!("modules"))).ok()?;
        modules.get_item(module).and_then(|module| module.getattr(attribute)).ok()
    });
    if found.is_some_and(|found| found.is(class)) { Cow::Owned(name) } else { Cow::Borrowed("") }
}

/// Whether a class of Python code goes by the same `__name__` and `__qualname__` as another.
#[must_use]
pub fn has_names_of(class: &Bound<'_, PyType>, other: &Bound<'_, PyType>) -> bool {
    if !is_heap(class) || !is_heap(other) {
        return false;
    }
    // SAFETY: both are live heap types, whose names are live strings; `tp_name` is NUL-terminated and lives as long.
    unsafe {
        let (one, two) = (raw(class), raw(other));
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

/// `tp_mro`; `None` while the type is being made.
#[must_use]
pub fn mro<'py>(class: &Bound<'py, PyType>) -> Option<Bound<'py, PyTuple>> {
    // SAFETY: `tp_mro` is NULL or a tuple.
    let mro = unsafe { Bound::from_borrowed_ptr_or_opt(class.py(), (*raw(class)).tp_mro) };
    mro.and_then(|mro| mro.cast_into().ok())
}

/// `tp_base`.
#[must_use]
pub fn base<'py>(class: &Bound<'py, PyType>) -> Option<Bound<'py, PyType>> {
    // SAFETY: `tp_base` is NULL or a type.
    let base = unsafe { Bound::from_borrowed_ptr_or_opt(class.py(), (*raw(class)).tp_base.cast()) };
    base.and_then(|base| base.cast_into().ok())
}

/// `tp_dictoffset`: 0 without a `__dict__`, negative for a managed one.
#[must_use]
pub fn dictoffset(class: &Bound<'_, PyType>) -> isize {
    // SAFETY: `class` is a live type object.
    unsafe { (*raw(class)).tp_dictoffset }
}

/// `tp_weaklistoffset`: 0 where no weak references are possible.
#[must_use]
pub fn weaklistoffset(class: &Bound<'_, PyType>) -> isize {
    // SAFETY: `class` is a live type object.
    unsafe { (*raw(class)).tp_weaklistoffset }
}

/// `PyType_IsSubtype`.
#[must_use]
pub fn is_subtype(class: &Bound<'_, PyType>, of: &Bound<'_, PyType>) -> bool {
    // SAFETY: both are live type objects.
    unsafe { ffi::PyType_IsSubtype(raw(class), raw(of)) != 0 }
}

/// `_PyType_Lookup`: the attribute along the MRO, without binding it; runs no Python code.
#[must_use]
pub fn lookup<'py>(class: &Bound<'py, PyType>, name: &Bound<'py, PyString>) -> Option<Bound<'py, PyAny>> {
    // SAFETY: both are live; the borrowed result is held at once.
    unsafe { Bound::from_borrowed_ptr_or_opt(class.py(), _PyType_Lookup(raw(class), name.as_ptr())) }
}

/// What the class itself has under this name, bases left aside; runs no Python code.
#[must_use]
pub fn own<'py>(class: &Bound<'py, PyType>, name: &Bound<'py, PyString>) -> Option<Bound<'py, PyAny>> {
    namespace(class)?.get_item(name).ok()?
}

/// The class's own namespace: to read, never to write.
pub(crate) fn namespace<'py>(class: &Bound<'py, PyType>) -> Option<Bound<'py, PyDict>> {
    // SAFETY: a live type object, whose namespace is a dict.
    #[cfg(Py_3_12)]
    let namespace = unsafe { Bound::from_owned_ptr_or_opt(class.py(), PyType_GetDict(raw(class))) };
    // SAFETY: the same.
    #[cfg(not(Py_3_12))]
    let namespace = unsafe { Bound::from_borrowed_ptr_or_opt(class.py(), (*raw(class)).tp_dict) };
    namespace?.cast_into().ok()
}

/// A class that has the slots of its bases and nothing of its own. With one base these are the base's, taken over; with more, only `type()`
/// finds for each special method the first class along the MRO that has it, which costs several times as much. (Taken over from several, a slot
/// that the first base has from `object` would hide the method of the second.)
///
/// # Errors
/// What CPython raises where no class can derive from these.
pub fn derived<'py>(name: &Bound<'py, PyString>, bases: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyType>> {
    if bases.len() == 1 { derived_from_one(name, bases) } else { derived_from_many(name, bases) }
}

fn derived_from_one<'py>(name: &Bound<'py, PyString>, bases: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyType>> {
    let mut slots = [ffi::PyType_Slot { slot: 0, pfunc: std::ptr::null_mut() }];
    let mut spec = ffi::PyType_Spec {
        // A name with a module, or CPython warns; the right one follows.
        name: c"slotrt.derived".as_ptr(),
        basicsize: 0,
        itemsize: 0,
        flags: (ffi::Py_TPFLAGS_DEFAULT | ffi::Py_TPFLAGS_BASETYPE) as _,
        slots: slots.as_mut_ptr(),
    };
    // SAFETY: the name lives for ever, the rest is copied; sizes of 0 are those of the base.
    let class = unsafe {
        Bound::from_owned_ptr_or_err(bases.py(), ffi::PyType_FromSpecWithBases(&raw mut spec, bases.as_ptr()))?
    };
    class.setattr(name!("__name__"), name)?;
    Ok(class.cast_into()?)
}

fn derived_from_many<'py>(name: &Bound<'py, PyString>, bases: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyType>> {
    derived_by(&bases.py().get_type::<PyType>(), name, bases)
}

/// The same, made by a class of classes.
///
/// # Errors
/// What CPython raises where no class can derive from these.
pub fn derived_by<'py>(
    meta: &Bound<'py, PyType>,
    name: &Bound<'py, PyString>,
    bases: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyType>> {
    let py = bases.py();
    let namespace = PyDict::new(py);
    // No `__dict__` of its own.
    namespace.set_item(name!("__slots__"), PyTuple::empty(py))?;
    let class = meta.call1((name, bases, namespace))?;
    class.delattr(name!("__slots__"))?;
    Ok(class.cast_into()?)
}

/// `object.__getattribute__`. CPython: `PyObject_GenericGetAttr`.
///
/// # Errors
/// What it raises.
pub fn generic_get<'py>(object: &Bound<'py, PyAny>, name: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: both are live; the result is a new reference, or NULL with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(object.py(), ffi::PyObject_GenericGetAttr(object.as_ptr(), name.as_ptr())) }
}

/// `object.__setattr__`; `None`: `object.__delattr__`. CPython: `PyObject_GenericSetAttr`.
///
/// # Errors
/// What it raises.
pub fn generic_set<'py>(
    object: &Bound<'py, PyAny>,
    name: &Bound<'py, PyString>,
    value: Option<&Bound<'py, PyAny>>,
) -> PyResult<()> {
    let value = value.map_or(std::ptr::null_mut(), Bound::as_ptr);
    // SAFETY: all are live, NULL deletes; where the result is not 0, an exception is set.
    match unsafe { ffi::PyObject_GenericSetAttr(object.as_ptr(), name.as_ptr(), value) } {
        0 => Ok(()),
        _ => Err(PyErr::fetch(object.py())),
    }
}

/// The object's own `__dict__`, where its class has a place for one. CPython: `PyObject_GenericGetDict`.
#[must_use]
pub fn generic_dict<'py>(object: &Bound<'py, PyAny>) -> Option<Bound<'py, PyDict>> {
    // SAFETY: the object is live; the result is a new reference, or NULL with an exception set.
    let dict = unsafe {
        let dict = ffi::PyObject_GenericGetDict(object.as_ptr(), std::ptr::null_mut());
        Bound::from_owned_ptr_or_err(object.py(), dict)
    };
    dict.ok()?.cast_into().ok()
}

/// `object.__new__(class)`.
///
/// # Errors
/// `TypeError` where the class is abstract, or lays out its instances in its own way.
pub fn new_instance<'py>(class: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    let object = py.get_type::<PyAny>();
    // SAFETY: both are live types.
    let (new, plain) = unsafe { ((*raw(class)).tp_new, (*raw(&object)).tp_new) };
    match new {
        // What `object.__new__` checks is whether this is the function that makes the instances.
        Some(new) if plain.is_some_and(|plain| std::ptr::fn_addr_eq(new, plain)) => {
            let none = PyTuple::empty(py);
            // SAFETY: a live type and an empty tuple; the result is a new reference, or NULL with an exception set.
            unsafe { Bound::from_owned_ptr_or_err(py, new(raw(class), none.as_ptr(), std::ptr::null_mut())) }
        }
        _ => object.call_method1(name!("__new__"), (class,)),
    }
}

/// `descriptor.__get__(object, type(object))` of a descriptor of C: some methods are told the class.
///
/// # Errors
/// What it raises; `TypeError` where it is no descriptor.
pub fn read<'py>(descriptor: &Bound<'py, PyAny>, object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: both are live; the slot's result is a new reference, or NULL with an exception set.
    unsafe {
        match (*ffi::Py_TYPE(descriptor.as_ptr())).tp_descr_get {
            Some(get) => {
                let class = ffi::Py_TYPE(object.as_ptr()).cast();
                let found = get(descriptor.as_ptr(), object.as_ptr(), class);
                Bound::from_owned_ptr_or_err(object.py(), found)
            }
            None => Err(PyTypeError::new_err("expected a descriptor")),
        }
    }
}

/// # Safety
/// Attached; both arguments must be live.
pub(super) unsafe fn lookup_raw(class: *mut ffi::PyTypeObject, name: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: as the caller promises.
    unsafe { _PyType_Lookup(class, name) }
}

/// The type's version tag, assigned if it can have one; 0 if not. Equal tags mean: nothing that attribute lookup on the
/// type can see has changed.
#[must_use]
pub fn version_tag(class: &Bound<'_, PyType>) -> u32 {
    // SAFETY: `class` is a live type object.
    unsafe { super::release::version_tag(raw(class)) }
}

/// Whether C alone defines the class: no slot of it runs Python code.
#[must_use]
pub fn is_c_type(class: &Bound<'_, PyType>) -> bool {
    // What a `class` statement or `type()` makes: it may have subclasses, and change.
    const OF_PYTHON: u64 = flag::HEAPTYPE | flag::BASETYPE;
    flags(class) & (OF_PYTHON | flag::IMMUTABLETYPE) != OF_PYTHON
}
