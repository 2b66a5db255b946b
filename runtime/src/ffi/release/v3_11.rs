//! CPython 3.11: who calls the evaluator clears the frame.
use crate::ffi::layout;
use generated::layouts::v3_11 as layouts;
use generated::opcodes::Op;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict};
use std::ffi::c_int;
use std::mem::{offset_of, size_of};

pub use super::handed::call_handing_over;
pub use layouts::{_PyInterpreterFrame, PyCodeObject, PyFrameObject, PyThreadState};

/// Of a frame: its code object.
pub const F_CODE: usize = offset_of!(_PyInterpreterFrame, f_code);
/// Of a frame: its function.
pub const F_FUNC: usize = offset_of!(_PyInterpreterFrame, f_func);
/// Of a frame: where it is in its code.
pub const INSTR: usize = offset_of!(_PyInterpreterFrame, prev_instr);
/// What [`INSTR`] holds before the first instruction, in bytes from the code's first.
pub const FRESH: isize = -2;

/// `FRAME_SPECIALS_SIZE`.
const SPECIALS: usize = offset_of!(_PyInterpreterFrame, localsplus) / size_of::<usize>();

/// Words that a frame of this code takes.
///
/// # Safety
/// `code` must be a code object.
pub unsafe fn frame_size(code: *mut ffi::PyObject) -> c_int {
    // SAFETY: as the caller promises.
    let field = |offset| unsafe { layout::read::<c_int>(code.cast(), offset) };
    let slots = field(offset_of!(PyCodeObject, co_nlocalsplus)) + field(offset_of!(PyCodeObject, co_stacksize));
    slots + SPECIALS as c_int
}

/// Makes ready what [`finish`] needs.
///
/// # Errors
/// None here.
pub fn prepare(py: Python<'_>) -> PyResult<()> {
    reraising(py).map(|_| ())
}

/// A function that does `PREP_RERAISE_STAR` with its two arguments: the C function behind it is not exported.
fn reraising(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let made = FUNCTION.get_or_try_init(py, || {
        let steps = [
            (Op::RESUME, 0),
            (Op::LOAD_FAST, 0),
            (Op::LOAD_FAST, 1),
            (Op::PREP_RERAISE_STAR, 0),
            (Op::RETURN_VALUE, 0),
        ];
        let number = |op| (generated::opcodes::V3_11.encode)(op).unwrap_or_default();
        let bytes: Vec<u8> = steps.into_iter().flat_map(|(op, arg)| [number(op), arg]).collect();
        let changes = PyDict::new(py);
        changes.set_item("co_code", PyBytes::new(py, &bytes))?;
        changes.set_item("co_stacksize", 2)?;
        changes.set_item("co_exceptiontable", PyBytes::new(py, &[]))?;
        let code = py.eval(c"(lambda original, raised: None).__code__", None, None)?;
        let code = code.call_method("replace", (), Some(&changes))?;
        // Frames that C begins from there import under its globals.
        let globals = PyDict::new(py);
        globals.set_item("__builtins__", py.import("builtins")?)?;
        PyResult::Ok(crate::ffi::function::new(&code, &globals)?.unbind())
    })?;
    Ok(made.bind(py))
}

/// `_PyExc_PrepReraiseStar`.
///
/// # Safety
/// Attached; the arguments are live objects, the second a list; [`prepare`] has been called.
pub unsafe fn prep_reraise_star(original: *mut ffi::PyObject, raised: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: as the caller promises.
    let py = unsafe { Python::assume_attached() };
    match reraising(py) {
        // SAFETY: a function of two parameters, which lives as long as the process.
        Ok(function) => unsafe { super::handed::call_unseen(function.as_ptr(), &[original, raised]) },
        Err(error) => {
            error.restore(py);
            std::ptr::null_mut()
        }
    }
}

/// Ends a fresh frame as its evaluator would: it leaves that to its caller.
///
/// # Safety
/// Both must be what the interpreter handed to an evaluator, which returns next.
pub unsafe fn finish(_state: *mut ffi::PyThreadState, _frame: *mut u8) {}

/// The type's version tag, assigned if it can have one; 0 if not.
///
/// # Safety
/// `class` must be a live type.
pub unsafe fn version_tag(class: *mut ffi::PyTypeObject) -> u32 {
    const VALID_VERSION_TAG: u64 = 1 << 19;
    // SAFETY: as the caller promises; looking up an attribute assigns the tag, and the result is borrowed.
    unsafe {
        let py = Python::assume_attached();
        crate::ffi::types::lookup_raw(class, pyo3::intern!(py, "__doc__").as_ptr());
        if ffi::PyType_GetFlags(class) as u64 & VALID_VERSION_TAG == 0 { 0 } else { (*class).tp_version_tag }
    }
}
