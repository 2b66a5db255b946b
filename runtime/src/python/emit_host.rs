//! A compilation unit as the emitter sees it: calls the backend, makes continuations.
use super::compiled::{Compiled, ResumePoint};
use super::unit::{CompilationUnit, ContinuationEntry};
use crate::emit::{CompiledGraph, Host};
use crate::ffi::{callable, function};
use crate::graph::{Graph, PyGraph};
use crate::internal_error::InternalError;
use crate::split::{self, Refusal, TransferConstants};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

/// The host of a unit.
pub struct UnitHost(pub Arc<CompilationUnit>);

impl Host for UnitHost {
    fn backend(&self, py: Python<'_>, graph: &Graph, examples: &[Py<PyAny>]) -> PyResult<Option<CompiledGraph>> {
        self.0.shared.count(|counters| &counters.graphs);
        let Some(backend) = &self.0.options.backend else { return Ok(None) };
        let errors = Arc::clone(&self.0.shared.counters.backend_errors);
        let graph = PyGraph::counting(py, graph, Some(errors))?;
        let start = Instant::now();
        // Wherever the frame was met: what the backend itself calls is not compiled.
        let backend = callable::native_call(backend.bind(py))?;
        let domains = self.0.shared.trace_caches.domains.loaded(py);
        let modes = domains.iter().filter_map(|domain| domain.taking_modes());
        let kept = modes.map(|modes| modes.keep(py)).collect::<PyResult<Vec<_>>>()?;
        let compiled = backend.call1((&graph, PyTuple::new(py, examples)?));
        drop(kept);
        let compiled = compiled.inspect_err(|_| self.0.shared.count(|counters| &counters.backend_errors))?;
        self.0.backend_ns.fetch_add(start.elapsed().as_nanos() as u64, Relaxed);
        if !compiled.is_callable() {
            let kind = compiled.get_type().qualname()?;
            return Err(PyTypeError::new_err(format!("the backend returned {kind}, which cannot be called")));
        }
        Ok(Some(CompiledGraph { callable: compiled.unbind(), conditions: graph.get().take_conditions() }))
    }

    fn continuation(&self, py: Python<'_>, wanted: &split::Continuation) -> PyResult<Py<PyAny>> {
        self.callable_of(py, wanted, false)
    }

    fn entered(&self, py: Python<'_>, function: &Py<PyAny>, wanted: &split::Continuation) -> PyResult<Py<PyAny>> {
        Self(self.0.entered_unit(wanted.root().bind(py), function.bind(py))?).callable_of(py, wanted, true)
    }

    fn constants(&self) -> &TransferConstants {
        &self.0.shared.constants
    }
}

impl UnitHost {
    /// What goes on there; `entered` says that the frame stopped before the instruction.
    pub(super) fn callable_of(
        &self,
        py: Python<'_>,
        wanted: &split::Continuation,
        entered: bool,
    ) -> PyResult<Py<PyAny>> {
        if let Some(known) = self.0.known(py, &wanted.key) {
            return Ok(known);
        }
        let code = wanted.build(py, &self.0.shared.constants).map_err(refused)?;
        let plain = function::from_code(&code.assemble_in_place(py)?, self.0.function.bind(py))?;
        let made = Compiled::continuation(Arc::clone(&self.0), ResumePoint { line: wanted.line(), entered });
        let cache = made.cache();
        let member = ContinuationEntry { callable: callable::new(&plain, Box::new(made), true)?.unbind(), cache };
        let poisoned = |_| InternalError::new_err("the table of continuations is poisoned");
        // Another thread may have made it meanwhile; what is not needed ends when the table is free again.
        let callable = member.callable.clone_ref(py);
        let mut known = self.0.continuations.lock().map_err(poisoned)?;
        if let Some(other) = known.get(&wanted.key) {
            return Ok(other.callable.clone_ref(py));
        }
        known.insert(wanted.key.clone(), member);
        Ok(callable)
    }
}

/// A continuation that cannot be built was refused after the split promised it.
fn refused(refusal: Refusal) -> PyErr {
    InternalError::new_err(format!("a continuation cannot be built: {refusal}"))
}
