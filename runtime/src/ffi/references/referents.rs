//! Referents of objects, as the garbage collector sees them.
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::ffi::{c_int, c_void};

/// The objects that this one refers to, once for each reference; at most `limit` of them.
#[must_use]
pub fn direct<'py>(object: &Bound<'py, PyAny>, limit: usize) -> Vec<Bound<'py, PyAny>> {
    let py = object.py();
    // SAFETY: `show` gives what the live object holds at this moment, and nothing has run since.
    show(object, limit, Vec::new()).into_iter().map(|held| unsafe { Bound::from_borrowed_ptr(py, held) }).collect()
}

/// The first of them. Called by compiled code.
///
/// # Errors
/// Where there is none.
#[pyfunction]
pub fn first<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    direct(object, 1).pop().ok_or_else(|| PyTypeError::new_err("the object refers to none"))
}

/// An item of a tuple; `None` where C has left a NULL, as for an iterator that has come to its end.
#[must_use]
pub fn item<'py>(tuple: &Bound<'py, PyTuple>, index: usize) -> Option<Bound<'py, PyAny>> {
    if index >= tuple.len() {
        return None;
    }
    // SAFETY: a live tuple and an index inside it; what it holds there, if anything, lives as long.
    unsafe { Bound::from_borrowed_ptr_or_opt(tuple.py(), ffi::PyTuple_GET_ITEM(tuple.as_ptr(), index.cast_signed())) }
}

/// How many references there are to an object.
#[must_use]
pub fn count(object: &Bound<'_, PyAny>) -> isize {
    // SAFETY: the object is live.
    unsafe { ffi::Py_REFCNT(object.as_ptr()) as isize }
}

/// The objects that would be freed if the holder of `given` dropped them: these themselves, and all that only they refer to, but for plain
/// objects. `own`: how many references to an address are the asker's, which do not count. Looks at `limit` references at most.
#[must_use]
pub fn freed_with<'py>(
    given: Vec<Bound<'py, PyAny>>,
    limit: usize,
    own: &dyn Fn(usize) -> usize,
) -> Vec<Bound<'py, PyAny>> {
    const MANY: usize = 56;
    if given.is_empty() {
        return given;
    }
    // How many references have not been met yet: of what is given, the list's own never is.
    let mut left: Vec<(*mut ffi::PyObject, isize)> = Vec::new();
    let (mut ending, mut next, mut looked_at, mut list) = (given, 0, 0, Vec::with_capacity(MANY));
    while let Some(object) = ending.get(next)
        && looked_at < limit
    {
        next += 1;
        let py = object.py();
        list.clear();
        list = show(object, limit - looked_at, list);
        looked_at += list.len();
        for held in list.iter().copied() {
            // SAFETY: the object that holds it is alive and unchanged.
            if unsafe { is_plain(held) } {
                continue;
            }
            let unmet = match left.iter_mut().find(|(known, _)| *known == held) {
                Some((_, left)) => {
                    *left -= 1;
                    *left
                }
                None => {
                    // SAFETY: the object that holds it is alive and unchanged.
                    let count = unsafe { ffi::Py_REFCNT(held) } as isize;
                    let others = count - own(held as usize) as isize - 1;
                    if (1..limit as isize).contains(&others) {
                        left.push((held, others));
                    }
                    others
                }
            };
            if unmet == 0 {
                // SAFETY: the object that holds it is alive and unchanged.
                ending.push(unsafe { Bound::from_borrowed_ptr(py, held) });
            }
        }
    }
    ending
}

/// Whether a finaliser of its type, or whoever refers to it weakly, may have something to do when the object ends.
#[must_use]
pub fn is_end_observed(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: a live object of a ready type; where the type says so, a pointer to weak references lies at that distance from it.
    unsafe {
        let class = ffi::Py_TYPE(object.as_ptr());
        if (*class).tp_finalize.is_some() || (*class).tp_del.is_some() {
            return true;
        }
        let offset = (*class).tp_weaklistoffset;
        offset != 0 && !object.as_ptr().cast::<u8>().offset(offset).cast::<*mut ffi::PyObject>().read().is_null()
    }
}

/// Whether the finaliser of its type has run already, which runs once. CPython: `PyObject_CallFinalizer`.
#[must_use]
pub fn is_finalised(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: a live object; it is asked whether the collector knows its type first.
    unsafe { ffi::PyObject_IS_GC(object.as_ptr()) == 1 && ffi::PyObject_GC_IsFinalized(object.as_ptr()) == 1 }
}

/// Whether an object holds nothing that the collector knows of, and nothing runs when it ends: numbers, text and the like.
///
/// # Safety
/// The object must be alive.
unsafe fn is_plain(object: *mut ffi::PyObject) -> bool {
    // SAFETY: a live object has a ready type.
    let class = unsafe { &*ffi::Py_TYPE(object) };
    let collected = class.tp_flags & ffi::Py_TPFLAGS_HAVE_GC != 0;
    !collected && class.tp_finalize.is_none() && class.tp_del.is_none() && class.tp_weaklistoffset == 0
}

struct VisitState {
    list: Vec<*mut ffi::PyObject>,
    limit: usize,
}

/// Adds pointers to what the object holds to an empty list.
pub(super) fn show(object: &Bound<'_, PyAny>, limit: usize, list: Vec<*mut ffi::PyObject>) -> Vec<*mut ffi::PyObject> {
    unsafe extern "C" fn visit(held: *mut ffi::PyObject, shown: *mut c_void) -> c_int {
        // SAFETY: the argument of `traverse` below, which nobody else uses meanwhile.
        let shown = unsafe { &mut *shown.cast::<VisitState>() };
        shown.list.push(held);
        c_int::from(shown.list.len() >= shown.limit)
    }
    let mut shown = VisitState { list, limit };
    // SAFETY: a live object of a type that the collector knows is traversed as the collector does it; `visit` runs no code of Python.
    unsafe {
        if ffi::PyObject_IS_GC(object.as_ptr()) == 1
            && let Some(traverse) = (*ffi::Py_TYPE(object.as_ptr())).tp_traverse
        {
            traverse(object.as_ptr(), visit, (&raw mut shown).cast());
        }
    }
    shown.list
}
