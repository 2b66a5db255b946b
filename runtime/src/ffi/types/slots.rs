//! Slots of live types, read and set.
use super::flags::is_heap;
use generated::slots::{Slot, Suite};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// Address of a suite; `None` where the type has none.
#[must_use]
pub fn suite(class: &Bound<'_, PyType>, suite: Suite) -> Option<usize> {
    // SAFETY: `class` is a live type object; only its fields are read.
    let address = unsafe {
        let class = class.as_type_ptr();
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
