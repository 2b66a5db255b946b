//! CPython's parsers of arguments, called with the variables of translated functions.
use super::exported;
use generated::capi::{Argument, Parsed};
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::{CString, c_int};

type Object = *mut ffi::PyObject;

/// Calls a parser (`PyArg_ParseTuple`, `PyArg_UnpackTuple`) on a tuple, with what stands between it and the variables; nothing if the
/// interpreter does not export it, or the variables are more than this is made for.
///
/// # Errors
/// The exception that it sets.
pub(crate) fn arguments<'py>(
    tuple: &Bound<'py, PyAny>,
    name: &'static str,
    text: Option<&str>,
    limits: &[isize],
    variables: &mut [Parsed<'_, Bound<'py, PyAny>>],
) -> Option<PyResult<i32>> {
    let address = exported::address(name)?;
    let text = text.map(CString::new).transpose().ok()?;
    let mut cells: Vec<Object> = variables.iter().map(cell).collect();
    let texts: Vec<Option<CString>> = variables.iter().map(given_text).collect();
    let mut words = vec![tuple.as_ptr() as usize, text.as_ref().map_or(0, |text| text.as_ptr() as usize)];
    words.extend(limits.iter().map(|limit| *limit as usize));
    for ((variable, cell), text) in variables.iter_mut().zip(&mut cells).zip(&texts) {
        words.push(match variable {
            Parsed::Object(_) => cell as *mut Object as usize,
            Parsed::Int(int) => *int as *mut i32 as usize,
            Parsed::Size(size) => *size as *mut isize as usize,
            Parsed::Double(double) => *double as *mut f64 as usize,
            Parsed::Given(Argument::Object(object)) => object.as_ptr() as usize,
            Parsed::Given(Argument::Int(int)) => *int as usize,
            Parsed::Given(Argument::Str(_)) => text.as_ref()?.as_ptr() as usize,
        });
    }
    // SAFETY: the parser takes the tuple and these words, as the translated call has them; variables and texts outlive the call.
    let answer = unsafe { call(address, &words)? };
    for (variable, cell) in variables.iter_mut().zip(cells) {
        if let Parsed::Object(object) = variable {
            // SAFETY: parsers lend what the tuple holds; what they did not set is what it was.
            **object = unsafe { Bound::from_borrowed_ptr_or_opt(tuple.py(), cell) };
        }
    }
    Some(if answer == 0 { PyErr::take(tuple.py()).map_or(Ok(0), Err) } else { Ok(answer) })
}

fn cell(variable: &Parsed<'_, Bound<'_, PyAny>>) -> Object {
    match variable {
        Parsed::Object(Some(object)) => object.as_ptr(),
        _ => std::ptr::null_mut(),
    }
}

fn given_text(variable: &Parsed<'_, Bound<'_, PyAny>>) -> Option<CString> {
    match variable {
        Parsed::Given(Argument::Str(text)) => CString::new(text.as_str()).ok(),
        _ => None,
    }
}

/// # Safety
/// `address` must be a C function of two parameters and an ellipsis, and take these words.
unsafe fn call(address: usize, words: &[usize]) -> Option<c_int> {
    type Parser = unsafe extern "C" fn(usize, usize, ...) -> c_int;
    // SAFETY: as the caller promises.
    unsafe {
        let parser = std::mem::transmute::<usize, Parser>(address);
        Some(match *words {
            [a, b] => parser(a, b),
            [a, b, c] => parser(a, b, c),
            [a, b, c, d] => parser(a, b, c, d),
            [a, b, c, d, e] => parser(a, b, c, d, e),
            [a, b, c, d, e, f] => parser(a, b, c, d, e, f),
            [a, b, c, d, e, f, g] => parser(a, b, c, d, e, f, g),
            [a, b, c, d, e, f, g, h] => parser(a, b, c, d, e, f, g, h),
            _ => return None,
        })
    }
}
