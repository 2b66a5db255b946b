//! One instruction performed on its own, where no exported C function does what it does.
use crate::bytecode::{Isa, Op};
use crate::ffi::release::call_unhooked;
use crate::ffi::snapshot;
use crate::names::name;
use pyo3::exceptions::PySystemError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

/// Performs one instruction that takes all of `values` from the stack and leaves a value, in a function that has nothing else.
///
/// # Errors
/// What the instruction raises, and where the release does not have it.
pub fn perform<'py>(py: Python<'py>, op: Op, arg: u8, values: &[Bound<'py, PyAny>]) -> PyResult<Bound<'py, PyAny>> {
    let function = function(py, op, arg, values.len())?;
    let pointers: Vec<*mut ffi::PyObject> = values.iter().map(|value| value.as_ptr()).collect();
    // SAFETY: attached; a Python function with a parameter for each value; all are live; the result is new, or NULL with an
    // exception set.
    unsafe { Bound::from_owned_ptr_or_err(py, call_unhooked(function.as_ptr(), &pointers)) }
}

fn function(py: Python<'_>, op: Op, arg: u8, count: usize) -> PyResult<Bound<'_, PyAny>> {
    let loads = (0..count).map(|slot| (Op::LOAD_FAST, slot as u8));
    let steps = std::iter::once((Op::RESUME, 0)).chain(loads).chain([(op, arg), (Op::RETURN_VALUE, 0)]);
    let mut bytes = Vec::new();
    for (op, arg) in steps {
        let number = Isa::running().number(op);
        let number = number.ok_or_else(|| PySystemError::new_err(format!("{} is no instruction here", op.name())))?;
        bytes.extend([number, arg]);
        bytes.extend(vec![0; 2 * Isa::running().caches(op)]);
    }
    let names = PyTuple::new(py, (0..count).map(|slot| format!("value{slot}")))?;
    let changes = PyDict::new(py);
    changes.set_item("co_code", PyBytes::new(py, &bytes))?;
    changes.set_item("co_stacksize", count.max(1) + 1)?;
    changes.set_item("co_exceptiontable", PyBytes::new(py, &[]))?;
    changes.set_item("co_varnames", names)?;
    changes.set_item("co_argcount", count)?;
    changes.set_item("co_nlocals", count)?;
    // Compiled, not evaluated: no frame may begin here.
    let builtins = snapshot::builtins(py)?;
    let outer = snapshot::original(py, "builtins", "compile")?.call1(("lambda: None", "<instruction>", "eval"))?;
    let code = outer.getattr(name!("co_consts"))?.get_item(0)?.call_method("replace", (), Some(&changes))?;
    // Frames that C begins from there import under its globals.
    let globals = PyDict::new(py);
    globals.set_item("__builtins__", builtins)?;
    super::function::new(&code, &globals)
}
