//! `_PyArg_UnpackKeywords`, the parser behind functions of the Argument Clinic, with a description made from names.
use pyo3::prelude::*;

/// What a translated function gives the parser.
#[cfg_attr(not(all(Py_3_11, not(Py_3_14))), allow(dead_code))]
pub(crate) struct Call<'a, 'py> {
    /// The arguments by position, and after them the values of `kwnames`.
    pub(crate) args: &'a [Bound<'py, PyAny>],
    /// How many are by position.
    pub(crate) nargs: isize,
    /// A dictionary of keywords, or nothing.
    pub(crate) kwargs: Option<&'a Bound<'py, PyAny>>,
    /// A tuple of names, or nothing.
    pub(crate) kwnames: Option<&'a Bound<'py, PyAny>>,
    /// The function's name, and those of its parameters.
    pub(crate) names: &'a [&'a str],
    /// Least and most by position, and least by keyword.
    pub(crate) limits: [i32; 3],
}

#[cfg(all(Py_3_11, not(Py_3_14)))]
mod of_release {
    use super::Call;
    use crate::ffi::capi::exported;
    use pyo3::ffi;
    use pyo3::prelude::*;
    use rustc_hash::FxHashMap;
    use std::ffi::{CString, c_char, c_int};
    use std::sync::{Mutex, OnceLock};

    type Object = *mut ffi::PyObject;
    type Unpack = unsafe extern "C" fn(
        *const Object,
        isize,
        Object,
        Object,
        *mut Parser,
        c_int,
        c_int,
        c_int,
        *mut Object,
    ) -> *const Object;

    /// CPython: `_PyArg_Parser`.
    #[repr(C)]
    struct Parser {
        #[cfg(all(Py_3_12, not(Py_3_13)))]
        initialized: c_int,
        format: *const c_char,
        keywords: *const *const c_char,
        fname: *const c_char,
        custom_msg: *const c_char,
        #[cfg(Py_3_13)]
        once: u8,
        #[cfg(Py_3_13)]
        is_kwtuple_owned: c_int,
        pos: c_int,
        min: c_int,
        max: c_int,
        kwtuple: Object,
        next: *mut Parser,
    }

    fn text(text: &str) -> Option<*const c_char> {
        CString::new(text).ok().map(|text| text.into_raw().cast_const())
    }

    /// The parser of some names: made once, as CPython keeps a list of them for ever.
    fn parser(names: &[&str]) -> Option<*mut Parser> {
        static MADE: OnceLock<Mutex<FxHashMap<Vec<String>, usize>>> = OnceLock::new();
        let mut made = MADE.get_or_init(Mutex::default).lock().ok()?;
        let key: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        if let Some(parser) = made.get(&key) {
            return Some(*parser as *mut Parser);
        }
        let (fname, keywords) = names.split_first()?;
        let mut keywords = keywords.iter().map(|name| text(name)).collect::<Option<Vec<_>>>()?;
        keywords.push(std::ptr::null());
        let parser = Box::leak(Box::new(Parser {
            #[cfg(all(Py_3_12, not(Py_3_13)))]
            initialized: 0,
            format: std::ptr::null(),
            keywords: keywords.leak().as_ptr(),
            fname: text(fname)?,
            custom_msg: std::ptr::null(),
            #[cfg(Py_3_13)]
            once: 0,
            #[cfg(Py_3_13)]
            is_kwtuple_owned: 0,
            pos: 0,
            min: 0,
            max: 0,
            kwtuple: std::ptr::null_mut(),
            next: std::ptr::null_mut(),
        }));
        made.insert(key, std::ptr::from_mut(parser) as usize);
        Some(parser)
    }

    /// The argument of each parameter, or nothing for one that is not given.
    pub(crate) fn unpack<'py>(
        py: Python<'py>,
        call: &Call<'_, 'py>,
    ) -> Option<PyResult<Vec<Option<Bound<'py, PyAny>>>>> {
        let address = exported::address("_PyArg_UnpackKeywords")?;
        let parser = parser(call.names)?;
        let count = call.names.len().saturating_sub(1);
        let positional = usize::try_from(call.nargs).ok().filter(|nargs| *nargs <= call.args.len())?;
        let args: Vec<Object> = call.args.iter().map(Bound::as_ptr).collect();
        let mut room: Vec<Object> = vec![std::ptr::null_mut(); count.max(args.len())];
        let pointer = |object: Option<&Bound<'py, PyAny>>| object.map_or(std::ptr::null_mut(), Bound::as_ptr);
        let [minpos, maxpos, minkw] = call.limits;
        // SAFETY: the library's function of this name and release; the arguments are as many as said, and there is room for all parameters.
        // What it gives is the room, or the arguments themselves.
        unsafe {
            let (kwargs, kwnames) = (pointer(call.kwargs), pointer(call.kwnames));
            let unpack = std::mem::transmute::<usize, Unpack>(address);
            let found =
                unpack(args.as_ptr(), call.nargs, kwargs, kwnames, parser, minpos, maxpos, minkw, room.as_mut_ptr());
            if found.is_null() {
                return Some(Err(PyErr::fetch(py)));
            }
            let given = if found == args.as_ptr() { args.get(..positional)? } else { &room };
            let given = given.iter().map(|object| Bound::from_borrowed_ptr_or_opt(py, *object));
            Some(Ok(given.chain(std::iter::repeat(None)).take(count).collect()))
        }
    }
}

/// Other releases have another struct.
#[cfg(not(all(Py_3_11, not(Py_3_14))))]
mod of_release {
    use super::Call;
    use pyo3::prelude::*;

    /// Nothing.
    pub(crate) fn unpack<'py>(_: Python<'py>, _: &Call<'_, 'py>) -> Option<PyResult<Vec<Option<Bound<'py, PyAny>>>>> {
        None
    }
}

pub(crate) use of_release::unpack;
