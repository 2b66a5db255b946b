//! Pointers to C structs that are no objects, as objects of a class of their own.
use pyo3::ffi;
use pyo3::prelude::*;

/// A pointer to a struct that is no object.
#[pyclass(frozen, module = "slotrt.protocol")]
pub(crate) struct Pointer(usize);

#[pymethods]
impl Pointer {
    fn __repr__(&self) -> &'static str {
        "<pointer to a struct>"
    }
}

/// The object that stands for a pointer; nothing without memory for it.
pub(crate) fn to(py: Python<'_>, address: usize) -> Option<Bound<'_, PyAny>> {
    Bound::new(py, Pointer(address)).ok().map(Bound::into_any)
}

/// Where a pointer leads to; nothing for real objects.
pub(crate) fn target(object: &Bound<'_, PyAny>) -> Option<usize> {
    object.cast_exact::<Pointer>().ok().map(|pointer| pointer.get().0)
}

/// The address that C has for an object: its own, or where the pointer that it stands for leads to.
pub(crate) fn address(object: &Bound<'_, PyAny>) -> usize {
    target(object).unwrap_or(object.as_ptr() as usize)
}

/// An object, where a pointer stands for one: C says by a cast that a struct is an object.
pub(crate) fn as_object(object: Bound<'_, PyAny>) -> Bound<'_, PyAny> {
    let Some(address) = target(&object) else { return object };
    // SAFETY: the prototype of the function that gives the pointer says that it is one to an object.
    unsafe { Bound::from_borrowed_ptr(object.py(), address as *mut ffi::PyObject) }
}

/// The word at the place that a pointer leads to; nothing for real objects.
pub(crate) fn word(place: &Bound<'_, PyAny>) -> Option<usize> {
    // SAFETY: `Live` gave the pointer out as one to a pointer.
    target(place).map(|place| unsafe { *(place as *const usize) })
}

/// Sets the word at the place that a pointer leads to; nothing for real objects.
pub(crate) fn set_word(place: &Bound<'_, PyAny>, word: usize) -> Option<()> {
    // SAFETY: `Live` gave the pointer out as one to a pointer, which is the caller's to change.
    target(place).map(|place| unsafe { *(place as *mut usize) = word })
}

/// The object at the place that a pointer leads to; nothing for real objects.
pub(crate) fn object<'py>(place: &Bound<'py, PyAny>) -> Option<Option<Bound<'py, PyAny>>> {
    // SAFETY: `Live` gave the pointer out as one to a pointer to an object, which is NULL or live.
    word(place).map(|word| unsafe { Bound::from_borrowed_ptr_or_opt(place.py(), word as *mut ffi::PyObject) })
}

/// Sets the object at the place that a pointer leads to, which then owns a reference; nothing for real objects.
pub(crate) fn set_object(place: &Bound<'_, PyAny>, value: Option<&Bound<'_, PyAny>>) -> Option<()> {
    let old = object(place)?;
    set_word(place, value.map_or(0, |value| value.clone().into_ptr() as usize))?;
    if let Some(old) = old {
        // SAFETY: the place owned a reference to what it held.
        drop(unsafe { Bound::from_owned_ptr(place.py(), old.as_ptr()) });
    }
    Some(())
}

/// `_PyStaticType_GetState`, by its address.
pub(crate) fn static_state(function: usize, class: &Bound<'_, pyo3::types::PyType>) -> usize {
    type Get = unsafe extern "C" fn(usize, *mut ffi::PyTypeObject) -> usize;
    // SAFETY: the library's own function of this name, with the state of this interpreter and a live type.
    unsafe { std::mem::transmute::<usize, Get>(function)(interpreter(), class.as_type_ptr()) }
}

/// `PyCFunction_GetFunction`.
pub(crate) fn method(function: &Bound<'_, pyo3::types::PyCFunction>) -> usize {
    // SAFETY: a live builtin function.
    unsafe { ffi::PyCFunction_GetFunction(function.as_ptr()) }.map_or(0, |function| function as usize)
}

/// The state of the interpreter.
pub(crate) fn interpreter() -> usize {
    // SAFETY: the caller is attached to an interpreter.
    unsafe { ffi::PyInterpreterState_Get() as usize }
}

/// Calls a `getter`.
///
/// # Errors
/// The exception that the function sets.
pub(crate) fn call_getter<'py>(function: usize, of: &Bound<'py, PyAny>, closure: usize) -> PyResult<Bound<'py, PyAny>> {
    type Getter = unsafe extern "C" fn(*mut ffi::PyObject, usize) -> *mut ffi::PyObject;
    // SAFETY: the function was read from a member of this type, with what it is to be given.
    unsafe {
        let result = std::mem::transmute::<usize, Getter>(function)(of.as_ptr(), closure);
        Bound::from_owned_ptr_or_err(of.py(), result)
    }
}

/// Calls a `setter`; without a value it deletes.
///
/// # Errors
/// The exception that the function sets.
pub(crate) fn call_setter(
    function: usize,
    of: &Bound<'_, PyAny>,
    value: Option<&Bound<'_, PyAny>>,
    closure: usize,
) -> PyResult<i32> {
    type Setter = unsafe extern "C" fn(*mut ffi::PyObject, *mut ffi::PyObject, usize) -> i32;
    // SAFETY: the function was read from a member of this type, with what it is to be given.
    let result = unsafe {
        let value = value.map_or(std::ptr::null_mut(), Bound::as_ptr);
        std::mem::transmute::<usize, Setter>(function)(of.as_ptr(), value, closure)
    };
    if result == -1 { Err(PyErr::fetch(of.py())) } else { Ok(result) }
}

/// Calls a function of words, the second of which may be NULL: `wrapperfunc`, and with keywords `wrapperfunc_kwds`.
///
/// # Errors
/// The exception that the function sets.
pub(crate) fn call_wrapper<'py>(
    function: usize,
    self_: &Bound<'py, PyAny>,
    args: &Bound<'py, PyAny>,
    wrapped: usize,
    keywords: Option<Option<&Bound<'py, PyAny>>>,
) -> PyResult<Bound<'py, PyAny>> {
    type Object = *mut ffi::PyObject;
    type Plain = unsafe extern "C" fn(Object, Object, usize) -> Object;
    type Keywords = unsafe extern "C" fn(Object, Object, usize, Object) -> Object;
    // SAFETY: the function was read from a member of one of these two types; arguments are live.
    unsafe {
        let result = match keywords {
            None => std::mem::transmute::<usize, Plain>(function)(self_.as_ptr(), args.as_ptr(), wrapped),
            Some(keywords) => {
                let keywords = keywords.map_or(std::ptr::null_mut(), Bound::as_ptr);
                std::mem::transmute::<usize, Keywords>(function)(self_.as_ptr(), args.as_ptr(), wrapped, keywords)
            }
        };
        Bound::from_owned_ptr_or_err(self_.py(), result)
    }
}
