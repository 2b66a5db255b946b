//! The interpreter's watchers, and what they call. CPython: `PyDict_Watch`, `PyType_Watch`, `PyFunction_AddWatcher`.
use super::bell::{Bell, Watch};
use super::table::{Change, Place, Table};
use crate::ffi::guard::{function_kwdefaults, is_exact_dict};
use crate::ffi::types;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyFunction, PyInt, PyString, PyType};
use std::ffi::c_int;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

type DictCallback = unsafe extern "C" fn(c_int, *mut ffi::PyObject, *mut ffi::PyObject, *mut ffi::PyObject) -> c_int;
type TypeCallback = unsafe extern "C" fn(*mut ffi::PyTypeObject) -> c_int;
type FunctionCallback = unsafe extern "C" fn(c_int, *mut ffi::PyObject, *mut ffi::PyObject) -> c_int;

unsafe extern "C" {
    fn PyDict_AddWatcher(callback: DictCallback) -> c_int;
    fn PyDict_Watch(watcher: c_int, dict: *mut ffi::PyObject) -> c_int;
    fn PyDict_Unwatch(watcher: c_int, dict: *mut ffi::PyObject) -> c_int;
    fn PyType_AddWatcher(callback: TypeCallback) -> c_int;
    fn PyType_Watch(watcher: c_int, class: *mut ffi::PyObject) -> c_int;
    fn PyType_Unwatch(watcher: c_int, class: *mut ffi::PyObject) -> c_int;
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

/// The interpreter's watchers and what hangs on them. There is one interpreter: another one refuses to import the module. The lock is
/// held for moments in which neither Python code runs nor another thread can.
#[derive(Debug)]
struct Watchers {
    dicts: Option<c_int>,
    classes: Option<c_int>,
    functions: Option<c_int>,
    table: Table,
}

static WATCHERS: LazyLock<Mutex<Watchers>> =
    LazyLock::new(|| Mutex::new(Watchers { dicts: None, classes: None, functions: None, table: Table::default() }));

fn watchers() -> MutexGuard<'static, Watchers> {
    WATCHERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The id of a watcher, asked for when first needed; `None` where all are taken.
fn asked(py: Python<'_>, known: &mut Option<c_int>, add: impl FnOnce() -> c_int) -> Option<c_int> {
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
    asked(py, &mut watchers().dicts, || unsafe { PyDict_AddWatcher(dict_changes) }).is_some()
}

/// The hash of a key that is compared without running code of the program; equal keys have equal hashes.
///
/// # Safety
/// Attached; `key` must be live.
unsafe fn plain_hash(key: *mut ffi::PyObject) -> Option<isize> {
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
    let table = &mut watchers().table;
    match event {
        dict_event::DEALLOCATED => table.forget_dict(dict as usize),
        _ => table.dict(dict as usize, hash, change),
    }
    0
}

unsafe extern "C" fn class_changes(class: *mut ffi::PyTypeObject) -> c_int {
    watchers().table.class(class as usize);
    0
}

unsafe extern "C" fn function_changes(event: c_int, function: *mut ffi::PyObject, _: *mut ffi::PyObject) -> c_int {
    match event {
        // Every function that is made comes by here.
        function_event::CREATE => {}
        function_event::DESTROY => watchers().table.forget_function(function as usize),
        _ => watchers().table.function(function as usize),
    }
    0
}

/// Whether the class's version is taken away under an event only: a metaclass of Python code may have an `mro` of its own, with which
/// it is also taken away silently. CPython: `type_mro_modified`.
fn tells_of_changes(class: &Bound<'_, PyType>) -> bool {
    let known = |base: Bound<'_, PyAny>| types::is_immutable(&base.get_type());
    types::version_tag(class) != 0 && types::mro(class).is_some_and(|mro| mro.iter().all(known))
}

/// Whether a watch was set, by the status that CPython gives; somebody may have cleared our watcher.
fn set(py: Python<'_>, status: c_int) -> bool {
    if status < 0 {
        drop(PyErr::take(py));
    }
    status == 0
}

impl Watch {
    fn hang(&mut self, place: Place, mark: u32) {
        watchers().table.hang(place, &self.bell, mark);
        self.hung.push(place);
    }

    fn dict(&mut self, dict: &Bound<'_, PyAny>, place: Place, mark: u32) -> bool {
        let id = watchers().dicts;
        // SAFETY: `dict` is a dict, the id that of a watcher of ours.
        let watched = id.is_some_and(|id| set(dict.py(), unsafe { PyDict_Watch(id, dict.as_ptr()) }));
        if watched {
            self.hang(place, mark);
        }
        watched
    }

    /// Whether no key of the dict compares by code of the program: what it says could change without a change to the dict. A key that comes
    /// later is a change.
    fn has_plain_keys(&mut self, dict: &Bound<'_, PyAny>) -> bool {
        let address = dict.as_ptr() as usize;
        if self.plain.contains(&address) {
            return true;
        }
        let (mut position, mut key) = (0, std::ptr::null_mut());
        // SAFETY: `dict` is a dict, which nothing changes meanwhile; the keys are borrowed, and only their types are read.
        unsafe {
            while ffi::PyDict_Next(dict.as_ptr(), &raw mut position, &raw mut key, std::ptr::null_mut()) != 0 {
                if ffi::PyUnicode_CheckExact(key) == 0 && ffi::PyLong_CheckExact(key) == 0 {
                    return false;
                }
            }
        }
        self.plain.push(address);
        true
    }

    /// Breaks when the entry of an exact dict under this key, an exact `str` or `int`, changes, comes or goes. False: not watched.
    pub fn entry(&mut self, dict: &Bound<'_, PyAny>, key: &Bound<'_, PyAny>, mark: u32) -> bool {
        if !is_exact_dict(dict) || !(key.is_exact_instance_of::<PyString>() || key.is_exact_instance_of::<PyInt>()) {
            return false;
        }
        // SAFETY: attached; `key` is live.
        let Some(hash) = (unsafe { plain_hash(key.as_ptr()) }) else { return false };
        if !self.has_plain_keys(dict) {
            return false;
        }
        self.dict(dict, Place::Entry(dict.as_ptr() as usize, hash), mark)
    }

    /// Breaks when a key of an exact dict comes or goes. False: not watched.
    pub fn names(&mut self, dict: &Bound<'_, PyAny>, mark: u32) -> bool {
        is_exact_dict(dict) && self.dict(dict, Place::Names(dict.as_ptr() as usize), mark)
    }

    /// Breaks when anything in an exact dict changes. False: not watched.
    fn whole(&mut self, dict: &Bound<'_, PyAny>, mark: u32) -> bool {
        is_exact_dict(dict) && self.dict(dict, Place::Whole(dict.as_ptr() as usize), mark)
    }

    /// Breaks when the attributes or bases of a class change, or those of a base. False: not watched.
    pub fn class(&mut self, py: Python<'_>, held: &Arc<Py<PyType>>, mark: u32) -> bool {
        let class = held.bind(py);
        if !tells_of_changes(class) {
            return false;
        }
        // SAFETY: attached; the callback follows the signature.
        let id = asked(py, &mut watchers().classes, || unsafe { PyType_AddWatcher(class_changes) });
        // SAFETY: `class` is a class, the id that of a watcher of ours.
        let watched = id.is_some_and(|id| set(py, unsafe { PyType_Watch(id, class.as_ptr()) }));
        if watched {
            self.classes.push(Arc::clone(held));
            self.hang(Place::Class(class.as_ptr() as usize), mark);
        }
        watched
    }

    /// Breaks when code, defaults or keyword defaults of a function change, the latter also in place, and when it dies. False: not watched.
    pub fn function(&mut self, function: &Bound<'_, PyAny>, mark: u32) -> bool {
        let py = function.py();
        if !function.is_exact_instance_of::<PyFunction>() {
            return false;
        }
        // SAFETY: attached; the callback follows the signature.
        let id = asked(py, &mut watchers().functions, || unsafe { PyFunction_AddWatcher(function_changes) });
        if id.is_none() || function_kwdefaults(function).is_some_and(|defaults| !self.whole(&defaults, mark)) {
            return false;
        }
        self.hang(Place::Function(function.as_ptr() as usize), mark);
        true
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let hung = std::mem::take(&mut self.hung);
        let bell: &Arc<Bell> = &self.bell;
        // While the interpreter shuts down nothing can be attached, and nobody asks any more.
        let _ = Python::try_attach(|py| {
            let mut watchers = watchers();
            let (dicts, classes) = (watchers.dicts, watchers.classes);
            for place in hung {
                if !watchers.table.take(place, bell) {
                    continue;
                }
                // SAFETY: nothing hangs on the object any more, which lives: a dict is forgotten when it dies, a class is kept alive. The
                // ids are those of watchers of ours.
                let done = unsafe {
                    match place {
                        Place::Entry(dict, _) | Place::Names(dict) | Place::Whole(dict) => {
                            dicts.map_or(0, |id| PyDict_Unwatch(id, dict as *mut ffi::PyObject))
                        }
                        Place::Class(class) => classes.map_or(0, |id| PyType_Unwatch(id, class as *mut ffi::PyObject)),
                        Place::Function(_) => 0,
                    }
                };
                set(py, done);
            }
        });
    }
}

/// How many dicts, classes and functions are watched; `None` for what no watcher was needed or free for.
#[must_use]
pub fn counts() -> [Option<usize>; 3] {
    let watchers = watchers();
    let ids = [watchers.dicts, watchers.classes, watchers.functions];
    let counts = watchers.table.counts();
    std::array::from_fn(|index| ids[index].map(|_| counts[index]))
}
