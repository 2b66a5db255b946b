//! C functions and objects that the interpreter exports, by name.
use generated::calls::{CallArgument, Gives, Value};
use pyo3::ffi;
use pyo3::prelude::*;
use rustc_hash::FxHashMap;
use std::ffi::{CString, c_char, c_int, c_void};
use std::sync::{Mutex, OnceLock};

type Object = *mut ffi::PyObject;

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// Functions that give a reference that is not the caller's.
const BORROWED: &[&str] = &[
    "PyCFunction_GetSelf",
    "PyDict_GetItem",
    "PyDict_GetItemString",
    "PyDict_GetItemWithError",
    "PyErr_Occurred",
    "PyEval_GetBuiltins",
    "PyEval_GetGlobals",
    "PyEval_GetLocals",
    "PyList_GetItem",
    "PyModuleDef_Init",
    "PyStructSequence_GetItem",
    "PyThreadState_GetDict",
    "PyTuple_GetItem",
    "_PyDict_GetItem_KnownHash",
    "_PyObject_MaterializeManagedDict",
    "_PyType_Lookup",
];
/// Functions that set variables to references that are not the caller's.
const BORROWED_OUT: &[&str] = &["PyDict_Next", "_PyDict_Next"];
/// Functions that are not asked for: they take references over, free, give objects that are not made yet, write into memory that
/// is handed over as a text here, or speak of the pending exception, which this world carries in its results.
const REFUSED: &[&str] = &[
    "PyErr_GetRaisedException",
    "PyErr_Print",
    "PyErr_SetRaisedException",
    "PyErr_WriteUnraisable",
    "PyList_SetItem",
    "PyMem_Free",
    "PyObject_CallFinalizerFromDealloc",
    "PyObject_ClearManagedDict",
    "PyObject_ClearWeakRefs",
    "PyObject_Free",
    "PyObject_GC_Del",
    "PyObject_GC_Track",
    "PyObject_GC_UnTrack",
    "PyStructSequence_New",
    "PyTuple_SetItem",
    "Py_FatalError",
    "_PyBytes_Repeat",
    "_PyErr_ChainExceptions1",
    "PyInterpreterState_Get",
    "PyMem_Malloc",
    "PyObject_Malloc",
    "_PyFloat_ExactDealloc",
    "_PyGen_FetchStopIterationValue",
    "_PyLong_New",
    "_PyObject_GC_New",
    "_PyObject_GC_NewVar",
    "_PyObject_New",
    "_PyObject_NewVar",
    "_PyObject_SetManagedDict",
    "_PyTuple_Resize",
    "_Py_CheckFunctionResult",
    "memcpy",
    "memmove",
    "memset",
];

/// Functions that the library does not export, but its symbol table names: the files that hide them. Their results and what they set are
/// the caller's, like those of the others.
const HIDDEN: &[(&str, &str)] = &[
    ("Objects/bytes_methods.c", "_Py_bytes_contains"),
    ("Objects/bytesobject.c", "_PyBytes_FormatEx"),
    ("Objects/bytesobject.c", "_PyBytes_FromBuffer"),
    ("Objects/bytesobject.c", "_PyBytes_FromIterator"),
    ("Objects/bytesobject.c", "_PyBytes_FromList"),
    ("Objects/dictobject.c", "_PyDict_GetItemRef_KnownHash"),
    ("Objects/dictobject.c", "_PyDict_GetItemRef_Unicode_LockHeld"),
    ("Objects/dictobject.c", "_PyDict_Next"),
    ("Objects/dictobject.c", "_PyDict_SetItem_LockHeld"),
    ("Objects/dictobject.c", "_PyObject_InitializeDict"),
    ("Objects/dictobject.c", "_PyObject_IsInstanceDictEmpty"),
    ("Objects/dictobject.c", "_PyObject_MaterializeManagedDict"),
    ("Objects/dictobject.c", "dict_setdefault_ref_lock_held"),
    ("Objects/genericaliasobject.c", "_Py_subs_parameters"),
    ("Objects/listobject.c", "list_ass_slice_lock_held"),
    ("Objects/listobject.c", "list_extend_dict"),
    ("Objects/listobject.c", "list_sort_impl"),
    ("Objects/longobject.c", "_PyLong_FromBytes"),
    ("Objects/longobject.c", "long_bitwise"),
    ("Objects/setobject.c", "set_add_entry"),
    ("Objects/setobject.c", "set_clear_internal"),
    ("Objects/setobject.c", "set_lookkey"),
    ("Objects/setobject.c", "set_merge_lock_held"),
    ("Objects/unicodectype.c", "_PyUnicode_IsXidContinue"),
    ("Objects/unicodectype.c", "_PyUnicode_IsXidStart"),
    ("Objects/unicodeobject.c", "_PyUnicode_AsASCIIString"),
    ("Objects/unicodeobject.c", "_PyUnicode_AsLatin1String"),
    ("Objects/unicodeobject.c", "any_find_slice"),
    ("Objects/unicodeobject.c", "charmapencode_output"),
    ("Objects/unicodeobject.c", "replace"),
    ("Objects/unicodeobject.c", "rsplit"),
    ("Objects/unicodeobject.c", "split"),
    ("Objects/unicodeobject.c", "tailmatch"),
    ("Objects/unicodeobject.c", "unicode_compare"),
    ("Objects/unicodeobject.c", "unicode_count_impl"),
    ("Objects/weakrefobject.c", "_PyWeakref_ClearWeakRefsNoCallbacks"),
];

/// The address of an exported function or variable.
pub(crate) fn address(name: &'static str) -> Option<usize> {
    static FOUND: OnceLock<Mutex<FxHashMap<&'static str, usize>>> = OnceLock::new();
    let mut found = FOUND.get_or_init(Mutex::default).lock().ok()?;
    let known = found.entry(name).or_insert_with(|| {
        let Ok(name) = CString::new(name) else { return 0 };
        // SAFETY: a NULL handle is RTLD_DEFAULT here: what the process has loaded; the name ends in NUL.
        unsafe { dlsym(std::ptr::null_mut(), name.as_ptr()) as usize }
    });
    (*known != 0).then_some(*known)
}

/// A global object: a static type by its variable, an exception class through the pointer to it.
pub(crate) fn global<'py>(py: Python<'py>, name: &'static str) -> Option<Bound<'py, PyAny>> {
    let address = address(name)?;
    let object: Object = if name.starts_with("PyExc_") {
        // SAFETY: `PyExc_*` are variables that hold an exception class while the interpreter lives.
        unsafe { *(address as *const Object) }
    } else if name.ends_with("Type") {
        address as Object
    } else {
        return None;
    };
    // SAFETY: a static type or an exception class, live as long as the interpreter; NULL before it is made.
    unsafe { Bound::from_borrowed_ptr_or_opt(py, object) }
}

/// `Py_SIZE` of a tuple, a list or bytes; nothing for what keeps no size there.
pub(crate) fn size(object: &Bound<'_, PyAny>) -> Option<isize> {
    use pyo3::types::{PyByteArray, PyBytes, PyList, PyTuple};
    // Before 3.12 it counts an integer's digits, with its sign.
    let sized = object.is_instance_of::<PyTuple>()
        || object.is_instance_of::<PyList>()
        || object.is_instance_of::<PyBytes>()
        || object.is_instance_of::<PyByteArray>()
        || cfg!(not(Py_3_12)) && object.is_instance_of::<pyo3::types::PyInt>();
    // SAFETY: the object is live, and its struct begins with a `PyVarObject`.
    sized.then(|| unsafe { (*object.as_ptr().cast::<ffi::PyVarObject>()).ob_size })
}

/// What a view of a dictionary, or a `mappingproxy`, is a view of: the first field of its struct.
pub(crate) fn viewed<'py>(object: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    const VIEWS: [&str; 4] = ["PyDictKeys_Type", "PyDictValues_Type", "PyDictItems_Type", "PyDictProxy_Type"];
    let kind = object.get_type();
    if !VIEWS.iter().any(|name| global(object.py(), name).is_some_and(|view| view.is(&kind))) {
        return None;
    }
    // SAFETY: in all releases the structs of these types are an object's head and then the pointer, which is NULL or live.
    unsafe {
        let field = object.as_ptr().cast::<u8>().add(size_of::<ffi::PyObject>()).cast::<Object>();
        Bound::from_borrowed_ptr_or_opt(object.py(), *field)
    }
}

/// A function of the headers on these arguments; nothing if it is not exported, or is none to ask for.
///
/// # Errors
/// The exception that the function sets.
pub(crate) fn call<'py>(
    py: Python<'py>,
    name: &'static str,
    args: &mut [CallArgument<'_, Bound<'py, PyAny>>],
    gives: Gives,
) -> Option<PyResult<Value<Bound<'py, PyAny>>>> {
    if REFUSED.contains(&name) || args.len() > 6 {
        return None;
    }
    let address = address(name).or_else(|| {
        let (file, _) = HIDDEN.iter().find(|row| row.1 == name)?;
        super::symbol_table::function(file, name)
    })?;
    let texts: Vec<Option<CString>> = args.iter().map(text).collect::<Option<_>>()?;
    let arrays: Vec<Vec<Object>> = args.iter().map(array).collect();
    let mut cells: Vec<Object> = args.iter_mut().map(cell).collect();
    let mut words = [0_usize; 6];
    for (index, (word, arg)) in words.iter_mut().zip(args.iter_mut()).enumerate() {
        *word = match arg {
            CallArgument::Object(object) => object.map_or(0, super::pointer::address),
            CallArgument::Int(int) => *int as usize,
            CallArgument::Str(_) => texts.get(index)?.as_ref().map_or(0, |text| text.as_ptr() as usize),
            CallArgument::Objects(_) => arrays.get(index)?.as_ptr() as usize,
            CallArgument::Out(_) => cells.get_mut(index)? as *mut Object as usize,
            CallArgument::OutInt(int) => *int as *mut i32 as usize,
            CallArgument::OutSize(int) => *int as *mut isize as usize,
        };
    }
    // SAFETY: the prototype of this name, in the headers of the running release, has these parameters, each of a class that one integer
    // register passes; objects, strings, arrays and variables outlive the call.
    let result = unsafe { words_call(address, &words, args.len()) };
    for (arg, cell) in args.iter_mut().zip(cells) {
        if let CallArgument::Out(variable) = arg {
            // SAFETY: the function left NULL or a reference there; it is the caller's, but where the table says that it is borrowed.
            **variable = unsafe {
                if BORROWED_OUT.contains(&name) {
                    Bound::from_borrowed_ptr_or_opt(py, cell)
                } else {
                    Bound::from_owned_ptr_or_opt(py, cell)
                }
            };
        }
    }
    Some(answer(py, name, result, gives))
}

/// The C string of an argument that is one; nothing if it holds a NUL.
fn text(arg: &CallArgument<'_, Bound<'_, PyAny>>) -> Option<Option<CString>> {
    match arg {
        CallArgument::Str(Some(text)) => CString::new(*text).ok().map(Some),
        _ => Some(None),
    }
}

fn array(arg: &CallArgument<'_, Bound<'_, PyAny>>) -> Vec<Object> {
    match arg {
        CallArgument::Objects(objects) => objects.iter().map(Bound::as_ptr).collect(),
        _ => Vec::new(),
    }
}

/// What a variable holds; its reference goes to the function.
fn cell(arg: &mut CallArgument<'_, Bound<'_, PyAny>>) -> Object {
    match arg {
        CallArgument::Out(variable) => variable.take().map_or(std::ptr::null_mut(), Bound::into_ptr),
        _ => std::ptr::null_mut(),
    }
}

/// # Safety
/// `address` must be a C function of `count` parameters that integer registers pass.
unsafe fn words_call(address: usize, words: &[usize; 6], count: usize) -> usize {
    type W = usize;
    let [a, b, c, d, e, f] = *words;
    // SAFETY: as the caller promises; what a function without a result leaves in the register is not read.
    unsafe {
        match count {
            0 => std::mem::transmute::<usize, unsafe extern "C" fn() -> W>(address)(),
            1 => std::mem::transmute::<usize, unsafe extern "C" fn(W) -> W>(address)(a),
            2 => std::mem::transmute::<usize, unsafe extern "C" fn(W, W) -> W>(address)(a, b),
            3 => std::mem::transmute::<usize, unsafe extern "C" fn(W, W, W) -> W>(address)(a, b, c),
            4 => std::mem::transmute::<usize, unsafe extern "C" fn(W, W, W, W) -> W>(address)(a, b, c, d),
            5 => std::mem::transmute::<usize, unsafe extern "C" fn(W, W, W, W, W) -> W>(address)(a, b, c, d, e),
            _ => std::mem::transmute::<usize, unsafe extern "C" fn(W, W, W, W, W, W) -> W>(address)(a, b, c, d, e, f),
        }
    }
}

/// The result in a register as what the prototype says.
fn answer<'py>(py: Python<'py>, name: &'static str, result: usize, gives: Gives) -> PyResult<Value<Bound<'py, PyAny>>> {
    let number = match gives {
        Gives::Object | Gives::Optional => {
            let object = result as Object;
            // SAFETY: the result of a function that gives an object: a new reference, or a borrowed one as the table says, or NULL.
            let object = unsafe {
                if BORROWED.contains(&name) {
                    Bound::from_borrowed_ptr_or_opt(py, object)
                } else {
                    Bound::from_owned_ptr_or_opt(py, object)
                }
            };
            return match object {
                Some(object) => Ok(Value::Object(object)),
                None => PyErr::take(py).map_or(Ok(Value::Null), Err),
            };
        }
        Gives::Nothing => return PyErr::take(py).map_or(Ok(Value::Nothing), Err),
        Gives::Int => i128::from(result as c_int),
        Gives::Size => result as isize as i128,
    };
    // Most functions say -1, some 0, -2 or a number of their own.
    PyErr::take(py).map_or(Ok(Value::Int(number)), Err)
}
