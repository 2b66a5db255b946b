//! A compilation unit: a function, its options, and the continuations already made.
use super::frame_cache::Cache;
use super::loops::Loops;
use super::shared::{Options, Shared};
use crate::bytecode::Code;
use crate::ffi::function;
use crate::internal_error::InternalError;
use crate::split::Key;
use crate::trace::FunctionCaches;
use pyo3::prelude::*;
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, Weak};

/// How often frames of a unit run as they are because a part of the program gets ready in them.
const MAX_WAITS: u32 = 4;

/// A compilation unit: a function, and what it shares with its continuations.
#[derive(Debug)]
pub struct CompilationUnit {
    pub(super) shared: Arc<Shared>,
    pub(super) options: Options,
    /// The function that all continuations descend from.
    pub(super) function: Py<PyAny>,
    pub(super) continuations: Mutex<FxHashMap<Key, ContinuationEntry>>,
    /// What continuations that are read from disk are made from.
    root_code: OnceLock<Arc<Code>>,
    /// Units of the functions whose frames this one's frames have entered, and theirs, by code and globals: one table for all.
    entered: Arc<Mutex<EnteredUnits>>,
    /// What traces of all of them keep.
    pub(super) kept: Arc<FunctionCaches>,
    /// The unit of the function that the program compiled, whose calls have led here: itself, for that.
    root: Weak<CompilationUnit>,
    /// Whether the function itself is gone: its continuations that still run are compiled no further.
    closed: AtomicBool,
    /// How often a frame ran as it is because a part of the program got ready in it.
    waits: AtomicU32,
    /// Whether traces break where numbers are drawn at random, in all that this unit's calls have led to: asked of the root.
    breaks_at_draws: AtomicBool,
    /// How its loops pay for their traces.
    pub(super) loops: Loops,
    /// Nanoseconds that backends took since they were last asked for.
    pub(super) backend_ns: AtomicU64,
}

type EnteredUnits = FxHashMap<[usize; 2], Arc<CompilationUnit>>;

/// A continuation: its callable, and the cache behind it.
#[derive(Debug)]
pub(super) struct ContinuationEntry {
    pub callable: Py<PyAny>,
    pub cache: Arc<Mutex<Cache>>,
}

impl CompilationUnit {
    /// A unit of one function.
    pub fn new(shared: Arc<Shared>, options: Options, function: &Bound<'_, PyAny>) -> Arc<Self> {
        let made = Self::with(shared, options, function, Arc::default(), Arc::default());
        Arc::new_cyclic(|root| Self { root: Weak::clone(root), ..made })
    }

    /// The unit of a function that this one's frames call natively.
    pub fn nested(&self, function: &Bound<'_, PyAny>) -> Arc<Self> {
        let options = self.options.nested(function.py());
        let made = Self::with(Arc::clone(&self.shared), options, function, Arc::default(), Arc::clone(&self.kept));
        Arc::new(Self { root: Weak::clone(&self.root), ..made })
    }

    /// The unit of the function that the program compiled.
    pub fn root(&self) -> &Weak<Self> {
        &self.root
    }

    /// Whether what is compiled for one is right for the other.
    pub fn compiles_like(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared) && self.options.compile_like(&other.options)
    }

    fn with(
        shared: Arc<Shared>,
        options: Options,
        function: &Bound<'_, PyAny>,
        entered: Arc<Mutex<EnteredUnits>>,
        kept: Arc<FunctionCaches>,
    ) -> Self {
        Self {
            shared,
            options,
            function: function.clone().unbind(),
            continuations: Mutex::default(),
            root_code: OnceLock::new(),
            entered,
            kept,
            root: Weak::new(),
            closed: AtomicBool::new(false),
            waits: AtomicU32::new(0),
            breaks_at_draws: AtomicBool::new(false),
            loops: Loops::default(),
            backend_ns: AtomicU64::new(0),
        }
    }

    /// Time spent in backends since the last call.
    pub fn take_backend_ns(&self) -> u64 {
        self.backend_ns.swap(0, Relaxed)
    }

    /// Whether a frame may still run as it is where a part of the program gets ready in it: what does so at every call is traced.
    pub fn may_wait(&self) -> bool {
        self.waits.load(Relaxed) < MAX_WAITS
    }

    /// Whether a trace may go on with numbers that are drawn at random: as long as none has broken where one is.
    pub fn may_draw(&self) -> bool {
        self.root.upgrade().is_none_or(|root| !root.breaks_at_draws.load(Relaxed))
    }

    /// A trace has broken where a number is drawn.
    pub fn break_at_draws(&self) {
        if let Some(root) = self.root.upgrade() {
            root.breaks_at_draws.store(true, Relaxed);
        }
    }

    /// A frame runs as it is, so that a part of the program gets ready.
    pub fn wait(&self) {
        self.waits.fetch_add(1, Relaxed);
    }

    /// Whether nothing more is to be compiled.
    pub fn is_closed(&self) -> bool {
        self.closed.load(Relaxed)
    }

    /// Forgets the continuations and all that was compiled for them: they name each other in the constants of their code.
    pub fn close(&self) {
        let units = self.entered.lock().map(|mut known| std::mem::take(&mut *known)).unwrap_or_default();
        units.values().for_each(|entered_unit| entered_unit.close_alone());
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

    /// Shows every object of the unit to the garbage collector; called for the function itself only.
    pub fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        self.traverse_alone(visit);
        self.kept.traverse(visit);
        let Ok(units) = self.entered.try_lock() else { return };
        units.values().for_each(|entered_unit| entered_unit.traverse_alone(visit));
    }

    fn traverse_alone(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        visit(&self.function);
        self.options.backend.iter().for_each(&mut *visit);
        let Ok(continuations) = self.continuations.try_lock() else { return };
        continuations.values().for_each(|member| visit(&member.callable));
    }

    /// The unit of a function whose frame was entered; the functions of one code object with the same globals share theirs.
    pub fn entered_unit(&self, code: &Bound<'_, PyAny>, function: &Bound<'_, PyAny>) -> PyResult<Arc<Self>> {
        let globals = function.getattr("__globals__")?;
        let key = [code.as_ptr() as usize, globals.as_ptr() as usize];
        let poisoned = |_| InternalError::new_err("the table of units is poisoned");
        if let Some(known) = self.entered.lock().map_err(poisoned)?.get(&key) {
            return Ok(Arc::clone(known));
        }
        // Continuations need the function for its names and globals only.
        let like = function::from_code(code, function)?;
        let (entered, kept) = (Arc::clone(&self.entered), Arc::clone(&self.kept));
        let options = self.options.nested(function.py());
        let made = Self::with(Arc::clone(&self.shared), options, &like, entered, kept);
        let made = Arc::new(Self { root: Weak::clone(&self.root), ..made });
        let mut known = self.entered.lock().map_err(|_| InternalError::new_err("the table of units is poisoned"))?;
        Ok(Arc::clone(known.entry(key).or_insert(made)))
    }

    /// What continuations of the unit's code are made from: decoded once.
    pub fn root_code<E>(
        &self,
        code: &Bound<'_, PyAny>,
        decode: impl FnOnce(&Bound<'_, PyAny>) -> Result<Arc<Code>, E>,
    ) -> Result<Arc<Code>, E> {
        if let Some(known) = self.root_code.get().filter(|known| known.original.is(code)) {
            return Ok(Arc::clone(known));
        }
        let decoded = decode(code)?;
        // The function may have got another code meanwhile: that is decoded each time.
        self.root_code.get_or_init(|| Arc::clone(&decoded));
        Ok(decoded)
    }

    /// The callable of a continuation, if it was made.
    pub fn known(&self, py: Python<'_>, key: &Key) -> Option<Py<PyAny>> {
        Some(self.continuations.lock().ok()?.get(key)?.callable.clone_ref(py))
    }
}
