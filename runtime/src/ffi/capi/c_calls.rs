//! Calls of C functions found in slots of live types, by the signature of the slot.
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::c_int;

type Object = *mut ffi::PyObject;

fn object<'py>(py: Python<'py>, result: Object) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: a slot gives a new reference, or NULL with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(py, result) }
}

fn number<'py, T: PartialEq + From<i8> + Copy>(py: Python<'py>, result: T) -> PyResult<T> {
    if result == T::from(-1)
        && let Some(error) = PyErr::take(py)
    {
        return Err(error);
    }
    Ok(result)
}

fn raw(value: Option<&Bound<'_, PyAny>>) -> Object {
    value.map_or(std::ptr::null_mut(), Bound::as_ptr)
}

/// A function pointer from a slot that takes objects and gives an object; `args` are as many as the slot's signature has.
///
/// # Errors
/// The exception that the function sets.
pub(crate) fn call_objects<'py>(
    py: Python<'py>,
    pointer: usize,
    args: &[Option<&Bound<'py, PyAny>>],
) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the pointer was read from a slot of a live type whose signature has this many objects; all arguments are live.
    let result = unsafe {
        match *args {
            [a] => std::mem::transmute::<usize, unsafe extern "C" fn(Object) -> Object>(pointer)(raw(a)),
            [a, b] => {
                std::mem::transmute::<usize, unsafe extern "C" fn(Object, Object) -> Object>(pointer)(raw(a), raw(b))
            }
            [a, b, c] => std::mem::transmute::<usize, unsafe extern "C" fn(Object, Object, Object) -> Object>(pointer)(
                raw(a),
                raw(b),
                raw(c),
            ),
            _ => return Err(pyo3::exceptions::PySystemError::new_err("slot with an unknown number of arguments")),
        }
    };
    object(py, result)
}

/// As [`call_objects`], for slots that give an `int`.
///
/// # Errors
/// The exception that the function sets.
pub(crate) fn call_int<'py>(py: Python<'py>, pointer: usize, args: &[Option<&Bound<'py, PyAny>>]) -> PyResult<i32> {
    // SAFETY: as in `call_objects`; the signature of the slot gives an int.
    let result =
        unsafe {
            match *args {
                [a] => std::mem::transmute::<usize, unsafe extern "C" fn(Object) -> c_int>(pointer)(raw(a)),
                [a, b] => {
                    std::mem::transmute::<usize, unsafe extern "C" fn(Object, Object) -> c_int>(pointer)(raw(a), raw(b))
                }
                [a, b, c] => std::mem::transmute::<usize, unsafe extern "C" fn(Object, Object, Object) -> c_int>(
                    pointer,
                )(raw(a), raw(b), raw(c)),
                _ => return Err(pyo3::exceptions::PySystemError::new_err("slot with an unknown number of arguments")),
            }
        };
    number(py, result)
}

/// `lenfunc` and `hashfunc`.
///
/// # Errors
/// The exception that the function sets.
pub(crate) fn call_size(py: Python<'_>, pointer: usize, object: &Bound<'_, PyAny>) -> PyResult<isize> {
    // SAFETY: the pointer was read from a slot of this signature; the argument is live.
    let result =
        unsafe { std::mem::transmute::<usize, unsafe extern "C" fn(Object) -> isize>(pointer)(object.as_ptr()) };
    number(py, result)
}

/// `ssizeargfunc`.
///
/// # Errors
/// The exception that the function sets.
pub(crate) fn call_ssizearg<'py>(
    py: Python<'py>,
    pointer: usize,
    of: &Bound<'py, PyAny>,
    index: isize,
) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the pointer was read from a slot of this signature; the argument is live.
    let result = unsafe {
        std::mem::transmute::<usize, unsafe extern "C" fn(Object, isize) -> Object>(pointer)(of.as_ptr(), index)
    };
    object(py, result)
}

/// `ssizeobjargproc`.
///
/// # Errors
/// The exception that the function sets.
pub(crate) fn call_ssizeobjarg<'py>(
    py: Python<'py>,
    pointer: usize,
    of: &Bound<'py, PyAny>,
    index: isize,
    value: Option<&Bound<'py, PyAny>>,
) -> PyResult<i32> {
    // SAFETY: the pointer was read from a slot of this signature; the arguments are live.
    let result = unsafe {
        std::mem::transmute::<usize, unsafe extern "C" fn(Object, isize, Object) -> c_int>(pointer)(
            of.as_ptr(),
            index,
            raw(value),
        )
    };
    number(py, result)
}

/// `richcmpfunc`.
///
/// # Errors
/// The exception that the function sets.
pub(crate) fn call_richcmp<'py>(
    py: Python<'py>,
    pointer: usize,
    v: &Bound<'py, PyAny>,
    w: &Bound<'py, PyAny>,
    op: i32,
) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the pointer was read from a slot of this signature; the arguments are live.
    let result = unsafe {
        std::mem::transmute::<usize, unsafe extern "C" fn(Object, Object, c_int) -> Object>(pointer)(
            v.as_ptr(),
            w.as_ptr(),
            op,
        )
    };
    object(py, result)
}

/// `iternextfunc`: `None` at the end.
///
/// # Errors
/// The exception that the function sets.
pub(crate) fn call_iternext<'py>(
    py: Python<'py>,
    pointer: usize,
    iterator: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    // SAFETY: the pointer was read from a slot of this signature; NULL without an exception is the end.
    unsafe {
        let result = std::mem::transmute::<usize, unsafe extern "C" fn(Object) -> Object>(pointer)(iterator.as_ptr());
        if result.is_null() {
            return PyErr::take(py).map_or(Ok(None), Err);
        }
        Ok(Some(Bound::from_owned_ptr(py, result)))
    }
}

/// The callable's `vectorcallfunc` on these arguments; nothing if it has none. `nargsf` without the offset flag counts the positional ones.
pub(crate) fn vectorcall<'py>(
    py: Python<'py>,
    callable: &Bound<'py, PyAny>,
    args: &[Bound<'py, PyAny>],
    nargsf: usize,
    kwnames: Option<&Bound<'py, PyAny>>,
) -> Option<PyResult<Bound<'py, PyAny>>> {
    let pointers: Vec<Object> = args.iter().map(Bound::as_ptr).collect();
    // An array that is no other's has no place before it to lend.
    let nargs = nargsf & (usize::MAX >> 1);
    // SAFETY: the arguments are live, and as many as the caller has checked; a result without an exception set, or the reverse, is an
    // extension's mistake, which `Bound` reports.
    unsafe {
        let function = ffi::PyVectorcall_Function(callable.as_ptr())?;
        Some(object(py, function(callable.as_ptr(), pointers.as_ptr(), nargs, raw(kwnames))))
    }
}

/// Whether a call of it goes by vectorcall.
pub(crate) fn has_vectorcall(callable: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the argument is live.
    unsafe { ffi::PyVectorcall_Function(callable.as_ptr()) }.is_some()
}

/// `PyFloat_AsDouble`.
///
/// # Errors
/// The exception that it sets.
pub(crate) fn float_as_double(of: &Bound<'_, PyAny>) -> PyResult<f64> {
    // SAFETY: the argument is live.
    number(of.py(), unsafe { ffi::PyFloat_AsDouble(of.as_ptr()) })
}

/// The exception of a warning that is an error.
///
/// # Errors
/// That exception.
pub(crate) fn warn(py: Python<'_>, category: &Bound<'_, PyAny>, text: &std::ffi::CStr, level: isize) -> PyResult<i32> {
    // SAFETY: the category is live and the text ends in NUL.
    number(py, unsafe { ffi::PyErr_WarnEx(category.as_ptr(), text.as_ptr(), level) })
}

/// `Py_EnterRecursiveCall`.
///
/// # Errors
/// `RecursionError`.
pub(crate) fn enter(py: Python<'_>, place: &std::ffi::CStr) -> PyResult<i32> {
    // SAFETY: the text ends in NUL and outlives the call.
    if unsafe { ffi::Py_EnterRecursiveCall(place.as_ptr()) } != 0 {
        return Err(PyErr::fetch(py));
    }
    Ok(0)
}

/// `Py_LeaveRecursiveCall`.
pub(crate) fn leave() {
    // SAFETY: follows a successful `enter`.
    unsafe { ffi::Py_LeaveRecursiveCall() }
}

/// `PyLong_AsDouble`.
///
/// # Errors
/// `OverflowError`.
pub(crate) fn long_as_double(number_object: &Bound<'_, PyAny>) -> PyResult<f64> {
    // SAFETY: the argument is live.
    number(number_object.py(), unsafe { ffi::PyLong_AsDouble(number_object.as_ptr()) })
}

/// `PyFloat_AS_DOUBLE`; 0 for what is no float.
pub(crate) fn float_value(object: &Bound<'_, PyAny>) -> f64 {
    object.cast::<pyo3::types::PyFloat>().map_or(0.0, |float| {
        // SAFETY: checked to be a float.
        unsafe { ffi::PyFloat_AS_DOUBLE(float.as_ptr()) }
    })
}
