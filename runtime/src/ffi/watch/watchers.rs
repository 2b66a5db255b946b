//! The interpreter's watchers, and what they call. CPython: `PyDict_Watch`, `PyType_Watch`, `PyFunction_AddWatcher`.
use super::place::Change;
use super::registry::Registry;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::c_int;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

type DictCallback = unsafe extern "C" fn(c_int, *mut ffi::PyObject, *mut ffi::PyObject, *mut ffi::PyObject) -> c_int;

type TypeCallback = unsafe extern "C" fn(*mut ffi::PyTypeObject) -> c_int;

type FunctionCallback = unsafe extern "C" fn(c_int, *mut ffi::PyObject, *mut ffi::PyObject) -> c_int;

unsafe extern "C" {
    fn PyDict_AddWatcher(callback: DictCallback) -> c_int;
    pub(super) fn PyDict_Watch(watcher: c_int, dict: *mut ffi::PyObject) -> c_int;
    pub(super) fn PyDict_Unwatch(watcher: c_int, dict: *mut ffi::PyObject) -> c_int;
    fn PyType_AddWatcher(callback: TypeCallback) -> c_int;
    pub(super) fn PyType_Watch(watcher: c_int, class: *mut ffi::PyObject) -> c_int;
    pub(super) fn PyType_Unwatch(watcher: c_int, class: *mut ffi::PyObject) -> c_int;
    fn PyFunction_AddWatcher(callback: FunctionCallback) -> c_int;
}

/// CPython: `PyDict_WatchEvent`.
mod dict_event {
    use std::ffi::c_int;
    pub const ADDED: c_int = 0;
    pub const MODIFIED: c_int = 1;
    pub const DELETED: c_int = 2;
    pub const DEALLOCATED: c_int = 5;
}

/// CPython: `PyFunction_WatchEvent`: the first two; the others are modifications.
mod function_event {
    use std::ffi::c_int;
    pub const CREATE: c_int = 0;
    pub const DESTROY: c_int = 1;
}

/// The interpreter's watchers, and the watches that are set. There is one interpreter: another one refuses to import the module. The lock is
/// held for moments in which neither Python code runs nor another thread can.
#[derive(Debug)]
pub(super) struct Watchers {
    pub(super) dicts: Option<c_int>,
    pub(super) classes: Option<c_int>,
    functions: Option<c_int>,
    pub(super) registry: Registry,
}

static WATCHERS: LazyLock<Mutex<Watchers>> = LazyLock::new(|| {
    Mutex::new(Watchers { dicts: None, classes: None, functions: None, registry: Registry::default() })
});

pub(super) fn watchers() -> MutexGuard<'static, Watchers> {
    WATCHERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The id of a watcher, which is added when first needed; `None` where all are taken.
fn id_of(py: Python<'_>, known: &mut Option<c_int>, add: impl FnOnce() -> c_int) -> Option<c_int> {
    if known.is_none() {
        let id = add();
        if id < 0 {
            drop(PyErr::take(py));
            return None;
        }
        *known = Some(id);
    }
    *known
}

/// Whether the interpreter tells of changes to dicts; asked again each time where no watcher was free.
pub(super) fn available(py: Python<'_>) -> bool {
    // SAFETY: attached; the callback follows the signature.
    id_of(py, &mut watchers().dicts, || unsafe { PyDict_AddWatcher(dict_changes) }).is_some()
}

/// The hash of a key that is compared without running code of the program; equal keys have equal hashes.
///
/// # Safety
/// Attached; `key` must be live.
pub(super) unsafe fn plain_hash(key: *mut ffi::PyObject) -> Option<isize> {
    // SAFETY: as the caller promises; exact strings and integers hash without running code, and never fail.
    unsafe {
        let plain = ffi::PyUnicode_CheckExact(key) != 0 || ffi::PyLong_CheckExact(key) != 0;
        plain.then(|| ffi::PyObject_Hash(key))
    }
}

unsafe extern "C" fn dict_changes(
    event: c_int,
    dict: *mut ffi::PyObject,
    key: *mut ffi::PyObject,
    _value: *mut ffi::PyObject,
) -> c_int {
    let change = match event {
        dict_event::MODIFIED => Change::Value,
        dict_event::ADDED | dict_event::DELETED => Change::Name,
        _ => Change::All,
    };
    // SAFETY: attached, in the middle of a change; the key of a change to one entry is live.
    let hash = if change == Change::All { None } else { unsafe { plain_hash(key) } };
    let registry = &mut watchers().registry;
    match event {
        dict_event::DEALLOCATED => registry.forget_dict(dict as usize),
        _ => registry.dict(dict as usize, hash, change),
    }
    0
}

unsafe extern "C" fn class_changes(class: *mut ffi::PyTypeObject) -> c_int {
    watchers().registry.class(class as usize);
    0
}

unsafe extern "C" fn function_changes(event: c_int, function: *mut ffi::PyObject, _: *mut ffi::PyObject) -> c_int {
    match event {
        // Every function that is made comes by here.
        function_event::CREATE => {}
        function_event::DESTROY => watchers().registry.forget_function(function as usize),
        _ => watchers().registry.function(function as usize),
    }
    0
}

/// Whether a watch was set, by the status that CPython gives; somebody may have cleared our watcher.
pub(super) fn is_done(py: Python<'_>, status: c_int) -> bool {
    if status < 0 {
        drop(PyErr::take(py));
    }
    status == 0
}

/// The watcher of classes, if there is one.
pub(super) fn of_classes(py: Python<'_>) -> Option<c_int> {
    // SAFETY: attached; the callback follows the signature.
    id_of(py, &mut watchers().classes, || unsafe { PyType_AddWatcher(class_changes) })
}

/// The watcher of functions, if there is one.
pub(super) fn of_functions(py: Python<'_>) -> Option<c_int> {
    // SAFETY: attached; the callback follows the signature.
    id_of(py, &mut watchers().functions, || unsafe { PyFunction_AddWatcher(function_changes) })
}

/// How many dicts, classes and functions are watched; `None` for what no watcher was needed or free for.
#[must_use]
pub fn counts() -> [Option<usize>; 3] {
    let watchers = watchers();
    let ids = [watchers.dicts, watchers.classes, watchers.functions];
    let counts = watchers.registry.counts();
    std::array::from_fn(|index| ids[index].map(|_| counts[index]))
}
