//! A compiled function and its continuations: options, backend, and the continuations already made.
use super::compiled::{Cache, Compiled, Resumed};
use super::session::{Options, Shared};
use crate::emit::Host;
use crate::ffi::callable;
use crate::ffi::function;
use crate::graph::Graph;
use crate::graph::PyGraph;
use crate::internal_error::InternalError;
use crate::split::{self, Key, Refusal, TransferConstants};
use crate::trace::Kept;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// What a function shares with its continuations.
#[derive(Debug)]
pub struct Family {
    pub(super) shared: Arc<Shared>,
    pub(super) options: Options,
    /// The function that all continuations descend from.
    pub(super) function: Py<PyAny>,
    continuations: Mutex<FxHashMap<Key, Member>>,
    /// Families of the functions whose frames this one's frames have entered, and theirs, by code and globals: one table for all.
    entered: Arc<Mutex<Branches>>,
    /// What traces of all of them keep.
    pub(super) kept: Arc<Kept>,
    /// Whether the function itself is gone: its continuations that still run are compiled no further.
    closed: AtomicBool,
    /// Nanoseconds that backends took since they were last asked for.
    backend_ns: AtomicU64,
}

type Branches = FxHashMap<[usize; 2], Arc<Family>>;

/// A continuation: its callable, and the cache behind it.
#[derive(Debug)]
struct Member {
    callable: Py<PyAny>,
    cache: Arc<Mutex<Cache>>,
}

impl Family {
    /// A family of one.
    pub fn new(shared: Arc<Shared>, options: Options, function: &Bound<'_, PyAny>) -> Arc<Self> {
        Self::with(shared, options, function, Arc::default(), Arc::default())
    }

    /// A family of one, of a function that this one's frames call natively.
    pub fn another(&self, options: Options, function: &Bound<'_, PyAny>) -> Arc<Self> {
        Self::with(Arc::clone(&self.shared), options, function, Arc::default(), Arc::clone(&self.kept))
    }

    fn with(
        shared: Arc<Shared>,
        options: Options,
        function: &Bound<'_, PyAny>,
        entered: Arc<Mutex<Branches>>,
        kept: Arc<Kept>,
    ) -> Arc<Self> {
        Arc::new(Self {
            shared,
            options,
            function: function.clone().unbind(),
            continuations: Mutex::default(),
            entered,
            kept,
            closed: AtomicBool::new(false),
            backend_ns: AtomicU64::new(0),
        })
    }

    /// Time spent in backends since the last call.
    pub fn take_backend_ns(&self) -> u64 {
        self.backend_ns.swap(0, Relaxed)
    }

    /// Whether nothing more is to be compiled.
    pub fn is_closed(&self) -> bool {
        self.closed.load(Relaxed)
    }

    /// Forgets the continuations and all that was compiled for them: they name each other in the constants of their code.
    pub fn close(&self) {
        let branches = self.entered.lock().map(|mut known| std::mem::take(&mut *known)).unwrap_or_default();
        branches.values().for_each(|branch| branch.close_alone());
        self.close_alone();
        self.kept.clear();
    }

    fn close_alone(&self) {
        self.closed.store(true, Relaxed);
        let taken = self.continuations.lock().map(|mut known| std::mem::take(&mut *known)).unwrap_or_default();
        let entries: Vec<_> = taken.values().filter_map(|member| member.cache.lock().ok()?.take()).collect();
        drop(entries);
        drop(taken);
    }

    /// Shows every object of the family to the garbage collector; called for the function itself only.
    pub fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        self.traverse_alone(visit);
        self.kept.traverse(visit);
        let Ok(branches) = self.entered.try_lock() else { return };
        branches.values().for_each(|branch| branch.traverse_alone(visit));
    }

    fn traverse_alone(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        visit(&self.function);
        self.options.backend.iter().for_each(&mut *visit);
        let Ok(continuations) = self.continuations.try_lock() else { return };
        continuations.values().for_each(|member| visit(&member.callable));
    }

    /// The family of a function whose frame was entered; the functions of one code object with the same globals share theirs.
    fn branch(&self, code: &Bound<'_, PyAny>, function: &Bound<'_, PyAny>) -> PyResult<Arc<Self>> {
        let globals = function.getattr("__globals__")?;
        let key = [code.as_ptr() as usize, globals.as_ptr() as usize];
        let poisoned = |_| InternalError::new_err("the table of families is poisoned");
        if let Some(known) = self.entered.lock().map_err(poisoned)?.get(&key) {
            return Ok(Arc::clone(known));
        }
        // Continuations need the function for its names and globals only.
        let like = function::from_code(code, function)?;
        let backend = self.options.backend.as_ref().map(|backend| backend.clone_ref(function.py()));
        let options = Options { backend, fullgraph: false };
        let (entered, kept) = (Arc::clone(&self.entered), Arc::clone(&self.kept));
        let made = Self::with(Arc::clone(&self.shared), options, &like, entered, kept);
        let mut known = self.entered.lock().map_err(|_| InternalError::new_err("the table of families is poisoned"))?;
        Ok(Arc::clone(known.entry(key).or_insert(made)))
    }

    fn known(&self, py: Python<'_>, key: &Key) -> Option<Py<PyAny>> {
        Some(self.continuations.lock().ok()?.get(key)?.callable.clone_ref(py))
    }
}

/// A family as the emitter sees it.
pub struct Household(pub Arc<Family>);

impl Host for Household {
    fn backend(&self, py: Python<'_>, graph: &Graph, examples: &[Py<PyAny>]) -> PyResult<Option<Py<PyAny>>> {
        self.0.shared.count(|counters| &counters.graphs);
        let Some(backend) = &self.0.options.backend else { return Ok(None) };
        let graph = PyGraph::new(py, graph)?;
        let start = Instant::now();
        let compiled = backend.bind(py).call1((graph, PyTuple::new(py, examples)?))?;
        self.0.backend_ns.fetch_add(start.elapsed().as_nanos() as u64, Relaxed);
        if !compiled.is_callable() {
            let kind = compiled.get_type().qualname()?;
            return Err(PyTypeError::new_err(format!("the backend returned {kind}, which cannot be called")));
        }
        Ok(Some(compiled.unbind()))
    }

    fn continuation(&self, py: Python<'_>, wanted: &split::Continuation) -> PyResult<Py<PyAny>> {
        self.go_on(py, wanted, false)
    }

    fn entered(&self, py: Python<'_>, function: &Py<PyAny>, wanted: &split::Continuation) -> PyResult<Py<PyAny>> {
        Self(self.0.branch(wanted.root().bind(py), function.bind(py))?).go_on(py, wanted, true)
    }

    fn constants(&self) -> &TransferConstants {
        &self.0.shared.constants
    }
}

impl Household {
    /// What goes on there; `entered` says that the frame stopped before the instruction.
    fn go_on(&self, py: Python<'_>, wanted: &split::Continuation, entered: bool) -> PyResult<Py<PyAny>> {
        if let Some(known) = self.0.known(py, &wanted.key) {
            return Ok(known);
        }
        let code = wanted.build(py, &self.0.shared.constants).map_err(refused)?;
        let plain = function::from_code(&code.assemble(py)?, self.0.function.bind(py))?;
        let made = Compiled::continuation(Arc::clone(&self.0), Resumed { line: wanted.line(), entered });
        let cache = made.cache();
        let member = Member { callable: callable::new(&plain, Box::new(made), true)?.unbind(), cache };
        let poisoned = |_| InternalError::new_err("the table of continuations is poisoned");
        let mut known = self.0.continuations.lock().map_err(poisoned)?;
        Ok(known.entry(wanted.key.clone()).or_insert(member).callable.clone_ref(py))
    }
}

/// A continuation that cannot be built was refused after the split promised it.
fn refused(refusal: Refusal) -> PyErr {
    InternalError::new_err(format!("a continuation cannot be built: {refusal}"))
}
