//! What compiled functions share: options, counters, and, for `explain`, a record of every trace.
use super::frame_cache::Cache;
use super::frontend::Frontend;
use super::report::record::Frame;
use super::trace_store::{KeptTraces, Settings, TraceStore};
use crate::split::TransferConstants;
use crate::trace::{FunctionCaches, SharedCaches};
use pyo3::prelude::*;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, Weak};

/// How functions are compiled.
#[derive(Debug)]
pub struct Options {
    /// Called with graph and example inputs; `None` runs the graph as it is.
    pub backend: Option<Py<PyAny>>,
    /// A graph break is an error.
    pub fullgraph: bool,
    /// Whether numbers are symbolic: none; those that callers give, from the first trace on; or, where it is not said, those that have
    /// been seen to change.
    pub dynamic: Option<bool>,
    /// How many sets of guards a frame may have; `None`: as many as usual.
    pub recompile_limit: Option<usize>,
}

impl Options {
    /// The same once more.
    pub fn alike(&self, py: Python<'_>) -> Self {
        Self { fullgraph: self.fullgraph, ..self.nested(py) }
    }

    /// Those of functions that are called below.
    pub fn nested(&self, py: Python<'_>) -> Self {
        Self {
            backend: self.backend.as_ref().map(|backend| backend.clone_ref(py)),
            fullgraph: false,
            dynamic: self.dynamic,
            recompile_limit: self.recompile_limit,
        }
    }

    /// What traces depend on.
    pub fn settings(&self) -> Settings {
        Settings { fullgraph: self.fullgraph, dynamic: self.dynamic, backend: self.backend.is_some() }
    }

    /// Whether functions that are called below are compiled in the same way.
    pub fn compile_like(&self, other: &Self) -> bool {
        self.dynamic == other.dynamic
            && self.recompile_limit == other.recompile_limit
            && match (&self.backend, &other.backend) {
                (Some(one), Some(other)) => one.is(other),
                (one, other) => one.is_none() && other.is_none(),
            }
    }
}

/// Numbers that `slotrt.stats()` shows.
#[derive(Debug, Default)]
pub struct Counters {
    /// Frames traced and emitted.
    pub frames_compiled: AtomicU64,
    /// Frames that run as they are.
    pub frames_skipped: AtomicU64,
    /// Traces that ended in a graph break.
    pub graph_breaks: AtomicU64,
    /// Calls whose guards found compiled code.
    pub cache_hits: AtomicU64,
    /// Frames compiled again because no guard set held.
    pub recompiles: AtomicU64,
    /// Graphs given to a backend.
    pub graphs: AtomicU64,
    /// Graphs, or parts of some, that a backend has refused with an exception.
    pub backend_errors: Arc<AtomicU64>,
    /// Instructions that traces executed.
    pub instructions: AtomicU64,
    /// Instructions that were executed once more, because a trace had to end before where it broke.
    pub repeated: AtomicU64,
    /// Traces from disk that calls have found right.
    pub traces_loaded: AtomicU64,
    /// Nanoseconds spent in tracing.
    pub trace_ns: AtomicU64,
    /// Nanoseconds spent in emitting code, backends included.
    pub emit_ns: AtomicU64,
}

impl Counters {
    /// All by name.
    pub fn named(&self) -> [(&'static str, &AtomicU64); 12] {
        [
            ("frames_compiled", &self.frames_compiled),
            ("frames_skipped", &self.frames_skipped),
            ("graph_breaks", &self.graph_breaks),
            ("cache_hits", &self.cache_hits),
            ("recompiles", &self.recompiles),
            ("graphs", &self.graphs),
            ("backend_errors", self.backend_errors.as_ref()),
            ("instructions", &self.instructions),
            ("repeated", &self.repeated),
            ("traces_loaded", &self.traces_loaded),
            ("trace_ns", &self.trace_ns),
            ("emit_ns", &self.emit_ns),
        ]
    }
}

/// What calls of compiled functions do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stance {
    /// They run compiled code, and compile where none is right.
    #[default]
    Default,
    /// They run as they are.
    Eager,
    /// They run as they are where no compiled code is right.
    EagerOnRecompile,
    /// They raise where no compiled code is right.
    FailOnRecompile,
    /// The first one of each function runs as it is.
    EagerThenCompile,
}

impl Stance {
    const ALL: [Self; 5] =
        [Self::Default, Self::Eager, Self::EagerOnRecompile, Self::FailOnRecompile, Self::EagerThenCompile];
}

/// The stance of a session, which is set at any time.
#[derive(Debug, Default)]
pub struct Stances(AtomicUsize);

impl Stances {
    /// That in force.
    pub fn get(&self) -> Stance {
        Stance::ALL.get(self.0.load(Relaxed)).copied().unwrap_or_default()
    }

    /// Sets the one of this number; `false`: there is none.
    pub fn set(&self, number: usize) -> bool {
        let known = number < Stance::ALL.len();
        if known {
            self.0.store(number, Relaxed);
        }
        known
    }
}

/// The part of a session that compiled functions hold on to.
#[derive(Debug)]
pub struct Shared {
    pub(super) counters: Counters,
    /// Raised by `reset`: compiled code of an earlier generation is forgotten.
    pub(super) generation: AtomicU64,
    /// What calls do that no compiled code is right for, or all calls.
    pub(super) stance: Stances,
    /// Who has settings of its own.
    pub(super) frontend: Frontend,
    pub(super) constants: TransferConstants,
    pub(super) trace_caches: Arc<SharedCaches>,
    pub(super) frames: Option<Mutex<Vec<Frame>>>,
    /// Called with the record of every frame as a dict.
    pub(super) log: Option<Py<PyAny>>,
    /// Where every trace ends, whatever the program does.
    pub(super) stop_at: Option<u64>,
    /// The caches of functions, to find what was compiled for them.
    pub(super) roots: Mutex<Vec<Root>>,
    /// Traces that were written as they were made.
    pub(super) kept: KeptTraces,
    /// Traces from disk.
    pub(super) stores: Mutex<Vec<Arc<TraceStore>>>,
}

/// The cache of a function that was compiled, and how.
#[derive(Clone, Debug)]
pub struct Root {
    pub cache: Weak<Mutex<Cache>>,
    pub settings: Settings,
    /// The address of its unit, which lives as long as the cache.
    pub unit: usize,
    /// What belongs to the unit's function.
    pub kept: Weak<FunctionCaches>,
}

/// Caches that are remembered before those that are gone are looked for.
const ROOTS: usize = 64;

impl Shared {
    /// Adds one to a counter.
    pub fn count(&self, counter: impl Fn(&Counters) -> &AtomicU64) {
        self.add(counter, 1);
    }

    /// Adds to a counter.
    pub fn add(&self, counter: impl Fn(&Counters) -> &AtomicU64, number: u64) {
        counter(&self.counters).fetch_add(number, Relaxed);
    }

    /// Keeps a record where the session is one of `explain`; tells the log.
    pub fn record(&self, py: Python<'_>, frame: Frame) {
        if let Some(log) = &self.log {
            let told = frame.to_dict(py).and_then(|dict| log.bind(py).call1((dict,)));
            if let Err(error) = told {
                error.write_unraisable(py, Some(log.bind(py)));
            }
        }
        if let Some(frames) = &self.frames
            && let Ok(mut frames) = frames.lock()
        {
            frames.push(frame);
        }
    }

    /// Remembers the cache of a function or continuation, and which unit it is of.
    pub fn register<U>(&self, cache: &Arc<Mutex<Cache>>, options: &Options, unit: &Arc<U>, kept: &Arc<FunctionCaches>) {
        let Ok(mut roots) = self.roots.lock() else { return };
        if roots.len() >= ROOTS && roots.len().is_power_of_two() {
            roots.retain(|root| root.cache.strong_count() > 0);
        }
        let unit = Arc::as_ptr(unit) as usize;
        roots.push(Root {
            cache: Arc::downgrade(cache),
            settings: options.settings(),
            unit,
            kept: Arc::downgrade(kept),
        });
    }

    /// What was loaded from disk.
    pub fn stores(&self) -> Vec<Arc<TraceStore>> {
        self.stores.lock().map(|stores| stores.clone()).unwrap_or_default()
    }

    /// Whether records are wanted.
    pub fn records(&self) -> bool {
        self.frames.is_some() || self.log.is_some()
    }
}
