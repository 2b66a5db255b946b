//! The Python face of this room: `slotrt.bytecode`.
use super::code::Code;
use pyo3::prelude::*;

pyo3::create_exception!(
    slotrt.bytecode,
    Error,
    pyo3::exceptions::PyValueError,
    "A code object that cannot be decoded, edited or assembled; names the offset."
);

impl From<super::Error> for PyErr {
    fn from(error: super::Error) -> Self {
        Error::new_err(error.to_string())
    }
}

/// A new code object from the decoded instructions of `code`.
#[pyfunction]
fn roundtrip<'py>(code: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    Ok(Code::decode(code)?.assemble(code.py())?)
}

/// The decoded instructions as text, in the manner of `dis`.
#[pyfunction]
fn listing(code: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(Code::decode(code)?.listing(code.py()))
}

/// The stack size that control flow needs, without regard to the one declared.
#[pyfunction]
fn stack_size(code: &Bound<'_, PyAny>) -> PyResult<u32> {
    Ok(Code::decode(code)?.depths()?.max)
}

/// Decodes the three byte strings of a code object, without one; gives the number of instructions.
#[pyfunction]
#[pyo3(signature = (code, linetable, exceptiontable, firstlineno))]
fn check(code: &[u8], linetable: &[u8], exceptiontable: &[u8], firstlineno: i32) -> PyResult<usize> {
    let bytes = super::Bytes { code, line_table: linetable, exception_table: exceptiontable, first_line: firstlineno };
    Ok(super::decode::decode(bytes, super::Isa::running())?.len())
}

/// The submodule `bytecode` of the native module.
pub fn module(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    let module = PyModule::new(py, "bytecode")?;
    module.add("Error", py.get_type::<Error>())?;
    module.add_function(wrap_pyfunction!(roundtrip, &module)?)?;
    module.add_function(wrap_pyfunction!(check, &module)?)?;
    module.add_function(wrap_pyfunction!(listing, &module)?)?;
    module.add_function(wrap_pyfunction!(stack_size, &module)?)?;
    #[cfg(slotrt_supported)]
    module.add_function(wrap_pyfunction!(super::split::everywhere::break_at, &module)?)?;
    Ok(module)
}
