//! `slotrt.bytecode`: code objects decoded, edited and assembled from Python.
mod code_editor;

use crate::bytecode::{Bytes, Code, Exception, Instr, Isa, decode};
use code_editor::Editor;
use pyo3::prelude::*;

/// A new code object from the decoded instructions of `code`.
#[pyfunction]
fn roundtrip<'py>(code: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    Ok(Code::decode(code)?.assemble(code.py())?)
}

/// The decoded instructions as text, in the manner of `dis`.
#[pyfunction]
fn listing(code: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(Code::read(code)?.listing(code.py()))
}

/// One tuple per instruction: its offset, its name, its argument, and what that stands for (`None` for jumps).
type Row = (Option<u32>, &'static str, u32, Option<String>);

/// The decoded instructions.
#[pyfunction]
fn instructions(code: &Bound<'_, PyAny>) -> PyResult<Vec<Row>> {
    let (py, code) = (code.py(), Code::read(code)?);
    let row = |instr: &Instr| {
        let meaning = instr.target.is_none().then(|| code.meaning(py, instr));
        (instr.offset, instr.op.name(), instr.arg, meaning)
    };
    Ok(code.instrs.iter().map(row).collect())
}

/// What an instruction does to the stack, like `dis.stack_effect`; without `jump`, the larger of both ways.
#[pyfunction]
#[pyo3(signature = (opcode, oparg = 0, *, jump = None))]
fn stack_effect(opcode: u8, oparg: u32, jump: Option<bool>) -> PyResult<i64> {
    let isa = Isa::running();
    let unknown =
        || Exception::new_err(format!("opcode {opcode} with argument {oparg} is no instruction of this release"));
    let op = isa.op(opcode).ok_or_else(unknown)?;
    let effect = |jump: bool| isa.effect(op, oparg, jump).ok_or_else(unknown);
    match jump {
        Some(jump) => effect(jump),
        None => Ok(effect(false)?.max(effect(true)?)),
    }
}

/// The stack size that control flow needs, without regard to the one declared.
#[pyfunction]
fn stack_size(code: &Bound<'_, PyAny>) -> PyResult<u32> {
    Ok(Code::read(code)?.depths()?.max)
}

/// Decodes the three byte strings of a code object, without one; gives the number of instructions.
#[pyfunction]
#[pyo3(signature = (code, linetable, exceptiontable, firstlineno))]
fn check(code: &[u8], linetable: &[u8], exceptiontable: &[u8], firstlineno: i32) -> PyResult<usize> {
    let bytes = Bytes { code, line_table: linetable, exception_table: exceptiontable, first_line: firstlineno };
    Ok(decode(bytes, Isa::running())?.len())
}

/// The submodule `bytecode` of the native module.
pub fn module(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    let module = PyModule::new(py, "bytecode")?;
    module.add("Error", py.get_type::<Exception>())?;
    module.add_class::<Editor>()?;
    module.add_function(wrap_pyfunction!(roundtrip, &module)?)?;
    module.add_function(wrap_pyfunction!(check, &module)?)?;
    module.add_function(wrap_pyfunction!(listing, &module)?)?;
    module.add_function(wrap_pyfunction!(instructions, &module)?)?;
    module.add_function(wrap_pyfunction!(stack_effect, &module)?)?;
    module.add_function(wrap_pyfunction!(stack_size, &module)?)?;
    #[cfg(slotrt_hooks)]
    module.add_function(wrap_pyfunction!(crate::handlers::split_function::break_at, &module)?)?;
    Ok(module)
}
