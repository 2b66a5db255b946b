//! Walks a graph.
use super::entry::{enter, fill, object};
use super::error::{Failure, Outcome};
use super::status::slotrt_status::{self, *};
use super::text;
use crate::graph::PyGraph;
use pyo3::ffi::PyObject;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::ffi::c_char;

/// A node of a graph. Everything is borrowed from the graph.
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct slotrt_node {
    /// The node itself, a `slotrt.Node`: nodes among `args` are these objects.
    pub node: *mut PyObject,
    /// `placeholder`, `call_function` or `output`.
    pub op: *const c_char,
    /// Its name, which is its own in the graph.
    pub name: *const c_char,
    /// What is called; the name, for placeholders and the output.
    pub target: *mut PyObject,
    /// The tuple of positional arguments; nodes in it are `slotrt.Node`.
    pub args: *mut PyObject,
    /// The dict of keyword arguments.
    pub kwargs: *mut PyObject,
    /// Type and metadata of its value in words: `tensor[float32, (2, 3)]`; or NULL.
    pub value: *const c_char,
    /// The array library that recorded it: `torch`; empty if none did.
    pub domain: *const c_char,
    /// Where in the program it comes from.
    pub file: *const c_char,
    /// The line there.
    pub line: i32,
}

fn nodes<'py>(graph: &Bound<'py, PyAny>) -> Outcome<Bound<'py, PyList>> {
    if !graph.is_instance_of::<PyGraph>() {
        let text = format!("a {} is no slotrt.Graph", graph.get_type());
        return Err(Failure::new(SLOTRT_BAD_ARGUMENT, text));
    }
    graph.getattr("nodes")?.cast_into().map_err(|error| PyErr::from(error).into())
}

/// How many nodes a `slotrt.Graph` has. The GIL must be held.
///
/// # Safety
/// `graph` is NULL or a live object; `out` is NULL or points to memory for the number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotrt_graph_node_count(graph: *mut PyObject, out: *mut u32) -> slotrt_status {
    enter(|py, _| {
        // SAFETY: as above.
        unsafe {
            let graph = object(py, graph, "graph")?;
            fill(out, "out", || Ok(nodes(&graph)?.len() as u32))
        }
    })
}

/// A node of a `slotrt.Graph`, in the order in which they run. The GIL must be held.
///
/// # Safety
/// `graph` is NULL or a live object; `out` is NULL or points to memory for the node.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotrt_graph_node_at(
    graph: *mut PyObject,
    index: u32,
    out: *mut slotrt_node,
) -> slotrt_status {
    enter(|py, _| {
        // SAFETY: as above.
        unsafe {
            let graph = object(py, graph, "graph")?;
            fill(out, "out", || {
                let nodes = nodes(&graph)?;
                let index = index as usize;
                if index >= nodes.len() {
                    let text = format!("node {index} of {}", nodes.len());
                    return Err(Failure::new(SLOTRT_OUT_OF_RANGE, text));
                }
                node(&nodes.get_item(index)?)
            })
        }
    })
}

/// What a node holds; it keeps every object that is named here alive.
fn node(node: &Bound<'_, PyAny>) -> Outcome<slotrt_node> {
    let attribute = |name: &str| node.getattr(name);
    let meta = attribute("meta")?.cast_into::<PyDict>().map_err(PyErr::from)?;
    let line = meta.get_item("line")?.and_then(|line| line.extract().ok()).unwrap_or(0);
    let op = match attribute("op")?.extract::<String>()?.as_str() {
        "placeholder" => c"placeholder",
        "output" => c"output",
        _ => c"call_function",
    };
    Ok(slotrt_node {
        node: node.as_ptr(),
        op: op.as_ptr(),
        name: text::of(&attribute("name")?),
        target: attribute("target")?.as_ptr(),
        args: attribute("args")?.as_ptr(),
        kwargs: attribute("kwargs")?.as_ptr(),
        value: text::item(&meta, "value"),
        domain: text::item(&meta, "domain"),
        file: text::item(&meta, "file"),
        line,
    })
}
