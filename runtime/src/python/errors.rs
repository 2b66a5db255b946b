//! `slotrt.GraphBreak`, raised under `fullgraph=True`.
use crate::trace::state::outcome::Break;
use pyo3::prelude::*;

pyo3::create_exception!(
    slotrt,
    GraphBreak,
    pyo3::exceptions::PyException,
    "The graph ends before the function does. Attributes: type, context, explanation, hints, file, line."
);

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
