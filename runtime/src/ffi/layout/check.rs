//! The check that the live interpreter lays out its structures as the offsets say.
use super::offsets::{code, frame, thread};
use super::shown::{Field, Shown, differing, field};
use crate::ffi::raw::read;
use crate::ffi::release::{self, _PyInterpreterFrame, PyCodeObject};
use crate::names::name;
use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::ffi::PyFunctionObject;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCFunction, PyDict};
use std::ffi::{CStr, c_int};
use std::mem::offset_of;

/// A function whose counts differ from each other, so that no field passes for its neighbour.
const PROBE: &CStr =
    c"(\n\n\n\n\n\n\nlambda a, b, /, c, d=1, *e, f, g, h=2, **k: [a + i for i in (b, c, d, e, f, g, h, k)])";

fn wrong(py: Python<'_>, field: &str) -> PyErr {
    let running = py.version_info();
    PyImportError::new_err(format!(
        "this CPython {}.{}.{} does not keep {field} where the CPython 3.{} that slotrt was built for keeps it: \
        install a slotrt that was built for this interpreter, or build one (docs/adding-a-release.md)",
        running.major,
        running.minor,
        running.patch,
        env!("SLOTRT_MINOR")
    ))
}

/// Compares what the layouts say with what the interpreter shows, on a function, its code, and a running frame.
pub(in crate::ffi) fn check(py: Python<'_>) -> PyResult<()> {
    let probe = py.eval(PROBE, None, None)?;
    check_code(&probe.getattr(name!("__code__"))?)?;
    let fields = function_fields(&probe)?;
    // SAFETY: `probe` is a function, which the fields are of.
    match unsafe { differing(probe.as_ptr().cast(), &fields) }.or(release::check_pending(py)?) {
        Some(field) => Err(wrong(py, field)),
        None => in_a_frame(py),
    }
}

/// Where an attribute's value is.
fn address(object: &Bound<'_, PyAny>, attribute: &str) -> PyResult<Shown> {
    Ok(Shown::Address(object.getattr(attribute)?.as_ptr() as usize))
}

fn function_fields(function: &Bound<'_, PyAny>) -> PyResult<Vec<Field>> {
    let shown = |attribute: &str| address(function, attribute);
    Ok(vec![
        field!(PyFunctionObject.func_globals, shown("__globals__")?),
        field!(PyFunctionObject.func_builtins, shown("__builtins__")?),
        field!(PyFunctionObject.func_name, shown("__name__")?),
        field!(PyFunctionObject.func_qualname, shown("__qualname__")?),
        field!(PyFunctionObject.func_code, shown("__code__")?),
        field!(PyFunctionObject.func_defaults, shown("__defaults__")?),
        field!(PyFunctionObject.func_kwdefaults, shown("__kwdefaults__")?),
        field!(PyFunctionObject.func_closure, Shown::Address(0)),
    ])
}

fn check_code(code: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = code.py();
    let count = |attribute: &str| -> PyResult<c_int> { code.getattr(attribute)?.extract() };
    let number = |attribute: &str| count(attribute).map(Shown::Number);
    let shown = |attribute: &str| address(code, attribute);
    let cells = code.getattr(name!("co_cellvars"))?.extract::<Vec<String>>()?;
    // A cell that is an argument has the argument's place.
    let variables = code.getattr(name!("co_varnames"))?.extract::<Vec<String>>()?;
    let places = variables.len() + cells.iter().filter(|cell| !variables.contains(cell)).count();
    let fields = [
        field!(PyCodeObject.co_flags, number("co_flags")?),
        field!(PyCodeObject.co_argcount, number("co_argcount")?),
        field!(PyCodeObject.co_posonlyargcount, number("co_posonlyargcount")?),
        field!(PyCodeObject.co_kwonlyargcount, number("co_kwonlyargcount")?),
        field!(PyCodeObject.co_stacksize, number("co_stacksize")?),
        field!(PyCodeObject.co_firstlineno, number("co_firstlineno")?),
        field!(PyCodeObject.co_nlocalsplus, Shown::Number(places as c_int)),
        field!(PyCodeObject.co_consts, shown("co_consts")?),
        field!(PyCodeObject.co_names, shown("co_names")?),
        field!(PyCodeObject.co_exceptiontable, shown("co_exceptiontable")?),
        field!(PyCodeObject.co_filename, shown("co_filename")?),
        field!(PyCodeObject.co_name, shown("co_name")?),
        field!(PyCodeObject.co_qualname, shown("co_qualname")?),
        field!(PyCodeObject.co_linetable, shown("co_linetable")?),
    ];
    // SAFETY: `code` is a code object, which the fields are of.
    if let Some(field) = unsafe { differing(code.as_ptr().cast(), &fields) } {
        return Err(wrong(py, field));
    }
    let words = places as c_int + count("co_stacksize")? + (frame::LOCALSPLUS / 8) as c_int;
    // SAFETY: `code` is a code object.
    if unsafe { release::frame_size(code.as_ptr()) } != words {
        return Err(wrong(py, "PyCodeObject.co_framesize or _PyInterpreterFrame.localsplus"));
    }
    let text = code.getattr(name!("co_code"))?.cast_into::<PyBytes>()?;
    // SAFETY: the code's bytes start at that offset; a code object has at least one code unit.
    let first = unsafe { read::<u8>(code.as_ptr().cast(), code::CO_CODE_ADAPTIVE) };
    let same = text.as_bytes().first() == Some(&first);
    if same { Ok(()) } else { Err(wrong(py, "PyCodeObject.co_code_adaptive")) }
}

/// Checks the frame of a piece of Python, which calls the check: a host in C may have none of its own.
fn in_a_frame(py: Python<'_>) -> PyResult<()> {
    let locals = PyDict::new(py);
    let check = |args: &Bound<'_, pyo3::types::PyTuple>, _: Option<&Bound<'_, PyDict>>| {
        check_frame(args.py(), args.get_item(0)?.as_ptr() as usize)
    };
    locals.set_item("check", PyCFunction::new_closure(py, None, None, check)?)?;
    py.eval(c"(lambda check, marker: check(marker))(check, [])", None, Some(&locals)).map(drop)
}

/// `marker`: what the frame's second variable holds.
fn check_frame(py: Python<'_>, marker: usize) -> PyResult<()> {
    let running = py.import("sys")?.getattr(name!("_getframe"))?.call0()?;
    // SAFETY: the thread state is live; the fields' offsets lie inside it.
    unsafe {
        let state = ffi::PyThreadState_Get().cast::<u8>();
        let (top, limit): (usize, usize) = (read(state, thread::DATASTACK_TOP), read(state, thread::DATASTACK_LIMIT));
        if top > limit || top % 8 != 0 {
            return Err(wrong(py, "PyThreadState.datastack_top"));
        }
    }
    // SAFETY: the frame object is live; the thread's state is, too.
    let (raw, current): (*mut u8, *mut u8) = unsafe {
        let raw = read(running.as_ptr().cast(), offset_of!(release::PyFrameObject, f_frame));
        (raw, release::current_frame(ffi::PyThreadState_Get().cast()))
    };
    if raw.is_null() || !(raw as usize).is_multiple_of(8) {
        return Err(wrong(py, "PyFrameObject.f_frame"));
    }
    if !std::ptr::eq(raw, current) {
        return Err(wrong(py, if cfg!(Py_3_13) { "PyThreadState.current_frame" } else { "PyThreadState.cframe" }));
    }
    let fields = [
        field!(_PyInterpreterFrame.f_globals, address(&running, "f_globals")?),
        field!(_PyInterpreterFrame.f_builtins, address(&running, "f_builtins")?),
        field!(_PyInterpreterFrame.frame_obj, Shown::Address(running.as_ptr() as usize)),
        field!(_PyInterpreterFrame.owner, Shown::Byte(frame::OWNED_BY_THREAD)),
    ];
    // SAFETY: as it runs, its frame is live, and has two variables.
    let (code, variable, different) = unsafe {
        let variable = (*frame::slot(raw, 1)).object() as usize;
        (Shown::Address(frame::code(raw) as usize), variable, differing(raw, &fields))
    };
    let code = (code != address(&running, "f_code")?).then_some("_PyInterpreterFrame.f_executable");
    let variable = (variable != marker).then_some("_PyInterpreterFrame.localsplus");
    code.or(different).or(variable).map_or(Ok(()), |field| Err(wrong(py, field)))
}
