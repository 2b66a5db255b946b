//! `slotrt.Graph`: a recorded graph as Python sees it, callable and iterable as in FX.
use super::node::Graph;
use super::program::Program;
use super::{py_node, table};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};

/// A recorded graph: iterate for its nodes, call with its inputs for the tuple of its results.
#[pyclass(name = "Graph", module = "slotrt", frozen)]
#[derive(Debug)]
pub struct PyGraph {
    program: Program,
    nodes: Py<PyList>,
    conditions: Mutex<Vec<GraphCondition>>,
    errors: Option<Arc<AtomicU64>>,
}

/// What a backend relied on: a callable, and the symbols whose numbers, as a tuple, it is asked about at each call.
pub type GraphCondition = (Py<PyAny>, Vec<String>);

impl PyGraph {
    /// The graph as Python objects; its last node must be the output.
    pub fn new<'py>(py: Python<'py>, graph: &Graph) -> PyResult<Bound<'py, Self>> {
        Self::counting(py, graph, None)
    }

    /// The same; `errors` counts what a backend raises later.
    pub fn counting<'py>(py: Python<'py>, graph: &Graph, errors: Option<Arc<AtomicU64>>) -> PyResult<Bound<'py, Self>> {
        let nodes = PyList::empty(py);
        for node in &graph.nodes {
            nodes.append(py_node::build(node, &nodes)?)?;
        }
        let program = Program::new(py, graph);
        Bound::new(py, Self { program, nodes: nodes.unbind(), conditions: Mutex::default(), errors })
    }
}

impl PyGraph {
    /// What the backend relied on.
    pub fn take_conditions(&self) -> Vec<GraphCondition> {
        self.conditions.lock().map(|mut conditions| std::mem::take(&mut *conditions)).unwrap_or_default()
    }
}

#[pymethods]
impl PyGraph {
    /// For backends: what they made of the graph is right only where `check((number, ...))` is true, for the numbers of these symbols.
    fn require(&self, check: Py<PyAny>, symbols: Vec<String>) {
        if let Ok(mut conditions) = self.conditions.lock() {
            conditions.push((check, symbols));
        }
    }

    /// For backends: counts an exception that does not leave the backend, or that comes where a part of the graph first runs.
    fn count_error(&self) {
        if let Some(errors) = &self.errors {
            errors.fetch_add(1, Relaxed);
        }
    }

    /// All nodes, in the order in which they run.
    #[getter]
    fn nodes<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.nodes.bind(py).get_slice(0, usize::MAX >> 1).into_any()
    }

    #[pyo3(signature = (*inputs))]
    fn __call__<'py>(&self, inputs: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyTuple>> {
        self.program.run(inputs)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.nodes.bind(py).call_method0("__iter__")
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.nodes.bind(py).len()
    }

    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        table::render(self.nodes.bind(py))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.program.traverse(&visit)?;
        visit.call(&self.nodes)
    }
}
