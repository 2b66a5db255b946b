//! The values of a frame packet, which go over to the continuation: nothing else keeps them alive.
use crate::bytecode::flag;
use crate::ffi::{generator_survivors, layout, other_compiler, raw, release, surviving_frames};
use crate::internal_error::InternalError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;
use smallvec::SmallVec;

/// What stands behind the continuation in every packet, and in no other tuple: a program may return one that begins with a
/// continuation, which it found among a code object's constants.
pub fn mark(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static MARK: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let made = MARK.get_or_try_init(py, || PyResult::Ok(py.get_type::<PyAny>().call0()?.unbind()))?;
    Ok(made.bind(py))
}

/// The first item of a tuple that has the mark for its second; borrowed from it.
pub(super) fn head<'py>(result: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let (py, raw) = (result.py(), result.as_ptr());
    // SAFETY: items are read only from an exact tuple that has them.
    unsafe {
        if ffi::PyTuple_CheckExact(raw) == 0 || ffi::PyTuple_GET_SIZE(raw) < HEADER {
            return None;
        }
        let marked = ffi::PyTuple_GET_ITEM(raw, 1) == mark(py).ok()?.as_ptr();
        marked.then(|| Bound::from_borrowed_ptr_or_opt(py, ffi::PyTuple_GET_ITEM(raw, 0))).flatten()
    }
}

/// The items before the values: continuation, mark, and the surviving frames, or `None`.
const HEADER: isize = 3;

/// Owned values.
pub(super) struct Values<'py> {
    py: Python<'py>,
    /// Frame objects that get the variables.
    pub survivors: Option<Bound<'py, PyTuple>>,
    owned: SmallVec<[*mut ffi::PyObject; 16]>,
}

/// Takes the values, all but the first items, out of an exact tuple that the caller owns.
///
/// # Errors
/// `InternalError` where one is missing, as compiled code that came from a damaged file may leave it.
pub(super) fn unpack(packet: Bound<'_, PyAny>) -> PyResult<Values<'_>> {
    let py = packet.py();
    let raw = packet.as_ptr();
    // SAFETY: `raw` is an exact tuple of that size. Where nobody else holds it, its items may be moved out: both the
    // collector and the deallocator cope with NULL items.
    let (survivors, owned) = unsafe {
        let alone = ffi::Py_REFCNT(raw) == 1;
        let items = (&raw mut (*raw.cast::<ffi::PyTupleObject>()).ob_item).cast::<*mut ffi::PyObject>();
        let take = |index: isize| {
            let slot = items.offset(index);
            if alone { std::mem::replace(&mut *slot, std::ptr::null_mut()) } else { ffi::Py_XNewRef(*slot) }
        };
        let survivors = Bound::from_owned_ptr_or_opt(py, take(HEADER - 1)).and_then(|frames| frames.cast_into().ok());
        (survivors, (HEADER..ffi::PyTuple_GET_SIZE(raw)).map(take).collect())
    };
    let values = Values { py, survivors, owned };
    match values.owned.iter().any(|value| value.is_null()) {
        true => Err(InternalError::new_err("compiled code left a variable's value out at a graph break")),
        false => Ok(values),
    }
}

/// Whether the function's variables lie in a namespace, as those of a module's or class's body do.
///
/// # Safety
/// `function` must be a Python function.
unsafe fn has_namespace(function: &Bound<'_, PyAny>) -> bool {
    // SAFETY: a function's code is a code object.
    let flags: u32 = unsafe { raw::read(ffi::PyFunction_GetCode(function.as_ptr()).cast(), layout::code::CO_FLAGS) };
    flags & flag::OPTIMIZED == 0
}

impl<'py> Values<'py> {
    pub fn pointers(&self) -> &[*mut ffi::PyObject] {
        &self.owned
    }

    /// Calls a function with the values; they belong to the new frame.
    pub fn call(mut self, function: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let owned = std::mem::take(&mut self.owned);
        // SAFETY: the type is checked first; the call takes over the references, also when it fails.
        unsafe {
            if ffi::PyFunction_Check(function.as_ptr()) == 0 {
                self.owned = owned;
                return Err(InternalError::new_err("a dispatcher chose something that is no function"));
            }
            let (locals, values) = match owned.split_last() {
                Some((namespace, values)) if has_namespace(function) => (*namespace, values),
                _ => (std::ptr::null_mut(), &owned[..]),
            };
            let evaluator = other_compiler::evaluator(self.py);
            let result = surviving_frames::call_successor(self.py, self.survivors.take(), || {
                let begun = surviving_frames::begin;
                let result = release::call_transferring(function.as_ptr(), locals, values, begun, evaluator);
                Bound::from_owned_ptr_or_err(self.py, result)
            })?;
            generator_survivors::mark_finalised(function, &result);
            Ok(result)
        }
    }
}

impl Drop for Values<'_> {
    fn drop(&mut self) {
        for value in std::mem::take(&mut self.owned) {
            // SAFETY: owned references; attached.
            unsafe { ffi::Py_XDECREF(value) };
        }
    }
}
