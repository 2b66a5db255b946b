//! `slotrt.bytecode.Error`: the exception for a code object that cannot be decoded, edited or assembled.
use super::error;

pyo3::create_exception!(
    slotrt.bytecode,
    Error,
    pyo3::exceptions::PyValueError,
    "A code object that cannot be decoded, edited or assembled; names the offset."
);

impl From<error::Error> for pyo3::PyErr {
    fn from(error: error::Error) -> Self {
        Error::new_err(error.to_string())
    }
}
