//! One trace as bytes: its guards, what else it takes to make its code anew, and the code.
use crate::emit::{GraphForBackend, GraphInput};
use crate::ffi::inspect;
use crate::names::name;
use crate::python::cache::Entry;
use crate::stored::{Misfit, Out, ProcessBound, write_code};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

/// What graph inputs are written as.
pub const FOUND: u8 = 0;
pub const KEPT: u8 = 1;
pub const MADE: u8 = 2;

/// Writes the trace of an entry; `again`: numbers that guards asked for have differed more than once.
///
/// # Errors
/// What of it another process could not make again.
pub fn write<'py>(entry: &Entry, again: bool, out: &mut Out<'_, 'py>) -> Result<(), Misfit> {
    let py = out.py();
    let (code, guards, run) = entry.compiled().ok_or_else(|| Misfit::new("the frame runs as it is"))?;
    let made = inspect::function_code(run.bind(py)).ok_or_else(|| Misfit::new("no function runs it"))?;
    let kept = entry.kept();
    if kept.seen.bound == ProcessBound::Process {
        let place = kept.seen.place.as_ref().map_or(String::new(), |(file, line)| format!(" at {file}:{line}"));
        return Err(Misfit(format!("it may have seen an address or a hash{place}, which another process has not")));
    }
    if shows_address(&made, code.bind(py))? {
        return Err(Misfit::new("a constant of its code has an address in its text, which another process has not"));
    }
    guards.write(kept.rebuild.guards, out)?;
    out.bytes.0.push(u8::from(again));
    out.bytes.0.push(u8::from(kept.rebuild.symbols.is_some()));
    if let Some(symbols) = &kept.rebuild.symbols {
        symbols.write(symbols.len(), out)?;
    }
    out.bytes.0.push(u8::from(kept.rebuild.graph.is_some()));
    if let Some(graph) = &kept.rebuild.graph {
        write_graph(graph, out)?;
    }
    out.bytes.number(kept.inside.len() as u64);
    kept.inside.iter().try_for_each(|code| out.identity(code.bind(py)))?;
    write_code(&made, out)
}

fn write_graph<'py>(graph: &GraphForBackend, out: &mut Out<'_, 'py>) -> Result<(), Misfit> {
    let within = |Misfit(why)| Misfit(format!("{why}, which a graph for a backend names"));
    out.bytes.number(graph.inputs.len() as u64);
    for input in &graph.inputs {
        match input {
            GraphInput::Found => out.bytes.0.push(FOUND),
            GraphInput::Kept(object) => {
                out.bytes.0.push(KEPT);
                out.kept(object.bind(out.py())).map_err(within)?;
            }
            GraphInput::Made => out.bytes.0.push(MADE),
        }
    }
    graph.places.write(graph.places.len(), out)?;
    graph.graph.write(out).map_err(within)
}

/// Whether new constants of the code have an address in their text.
fn shows_address(made: &Bound<'_, PyAny>, traced: &Bound<'_, PyAny>) -> PyResult<bool> {
    let known = constants(traced)?;
    for constant in constants(made)?.iter() {
        if let Ok(text) = constant.cast_exact::<PyString>()
            && text.to_string_lossy().contains(" at 0x")
            && !known.contains(&constant)?
        {
            return Ok(true);
        }
    }
    Ok(false)
}

fn constants<'py>(code: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
    Ok(code.getattr(name!("co_consts"))?.cast_into()?)
}
