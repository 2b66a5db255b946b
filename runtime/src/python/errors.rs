//! `slotrt.GraphBreak`, raised under `fullgraph=True`.
use crate::stored::FileError;
use crate::trace::state::outcome::Break;
use pyo3::exceptions::{PyFileNotFoundError, PyIsADirectoryError, PyOSError, PyPermissionError};
use pyo3::prelude::*;
use std::io::ErrorKind;

pyo3::create_exception!(
    slotrt,
    GraphBreak,
    pyo3::exceptions::PyException,
    "The graph ends before the function does. Attributes: type, context, explanation, hints, file, line."
);

pyo3::create_exception!(
    slotrt,
    TraceFileError,
    pyo3::exceptions::PyValueError,
    "A file is no file of traces, is damaged, or is of another interpreter, slotrt or library."
);

/// The exception for a file that is refused.
pub fn refused_file(error: &FileError) -> PyErr {
    let text = error.to_string();
    match error {
        FileError::Io { error, .. } => match error.kind() {
            ErrorKind::NotFound => PyFileNotFoundError::new_err(text),
            ErrorKind::PermissionDenied => PyPermissionError::new_err(text),
            ErrorKind::IsADirectory => PyIsADirectoryError::new_err(text),
            _ => PyOSError::new_err(text),
        },
        _ => TraceFileError::new_err(text),
    }
}

/// The exception for a break at a place of the program.
pub fn graph_break(py: Python<'_>, reason: &Break, file: &str, line: i32) -> PyErr {
    let hints: String = reason.hints.iter().map(|hint| format!("\n  hint: {hint}")).collect();
    let text = format!("{}: {}\n  at {file}:{line}\n  {}{hints}", reason.kind, reason.context, reason.explanation);
    let error = GraphBreak::new_err(text);
    match attributes(error.value(py).as_any(), reason, file, line) {
        Ok(()) => error,
        Err(other) => other,
    }
}

fn attributes(error: &Bound<'_, PyAny>, reason: &Break, file: &str, line: i32) -> PyResult<()> {
    error.setattr("type", &reason.kind)?;
    error.setattr("context", &reason.context)?;
    error.setattr("explanation", &reason.explanation)?;
    error.setattr("hints", &reason.hints)?;
    error.setattr("file", file)?;
    error.setattr("line", line)
}
