//! Traces from disk, by the code that was traced.
use crate::stored::{Damaged, Environment, Fingerprints, Misfit, Nearby, ProcessBound, Reader, Writer};
use pyo3::prelude::*;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// How a function was compiled, as far as its traces depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Settings {
    /// A graph break is an error.
    pub fullgraph: bool,
    /// Whether numbers are symbolic.
    pub dynamic: Option<bool>,
    /// Whether a backend gets graphs, whichever.
    pub backend: bool,
}

const FULLGRAPH: u8 = 1;
const BACKEND: u8 = 2;

impl Settings {
    fn byte(self) -> u8 {
        let dynamic = self.dynamic.map_or(0, |dynamic| if dynamic { 4 } else { 8 });
        u8::from(self.fullgraph) | (u8::from(self.backend) * BACKEND) | dynamic
    }

    fn of(byte: u8) -> Result<Self, Damaged> {
        let dynamic = match byte >> 2 {
            0 => None,
            1 => Some(true),
            2 => Some(false),
            _ => return Err(Damaged),
        };
        Ok(Self { fullgraph: byte & FULLGRAPH != 0, dynamic, backend: byte & BACKEND != 0 })
    }
}

/// One trace: guards and code, as bytes.
#[derive(Debug)]
pub struct StoredTrace {
    /// The digest of the code that was traced.
    pub code: u128,
    /// How it was compiled.
    pub settings: Settings,
    /// How far it is right elsewhere.
    pub bound: ProcessBound,
    /// Where its bytes stand.
    range: Range<usize>,
    /// How often traces were saved since it was used last.
    idle: u8,
    /// Tells it from all others of this process.
    pub number: u64,
    /// Whether a call has found it right.
    pub used: AtomicBool,
    /// Whether it does not fit this process.
    unfit: AtomicBool,
    /// Whether a call has run as it is, for a module that the trace names had not been imported.
    waited: AtomicBool,
}

/// What was read from one file.
#[derive(Debug, Default)]
pub struct TraceStore {
    content: Vec<u8>,
    traces: FxHashMap<u128, Vec<StoredTrace>>,
    /// Libraries that had these versions.
    libraries: Vec<(String, String)>,
    /// Whether texts have the hashes that they had.
    same_hashes: bool,
    /// Why traces do not fit, and how many.
    unfit: Mutex<BTreeMap<String, u64>>,
    /// What objects of this process are like.
    pub fingerprints: Mutex<Fingerprints>,
}

impl TraceStore {
    /// Of the content of a file.
    pub fn new(environment: Environment, content: Vec<u8>, hashes: u64) -> Result<Self, Damaged> {
        let mut store = Self { libraries: environment.libraries, ..Self::default() };
        let mut from = Reader::new(&content);
        store.same_hashes = from.word()? == hashes;
        for _ in 0..from.count()? {
            let trace = StoredTrace::read(&mut from, content.len())?;
            store.traces.entry(trace.code).or_default().push(trace);
        }
        if !from.is_at_end() {
            return Err(Damaged);
        }
        store.content = content;
        Ok(store)
    }

    /// How many traces there are.
    pub fn len(&self) -> usize {
        self.traces.values().map(Vec::len).sum()
    }

    /// How many of them calls have found right.
    pub fn used(&self) -> usize {
        self.traces.values().flatten().filter(|trace| trace.used.load(Relaxed)).count()
    }

    /// Why which of them do not fit this process.
    pub fn unfit(&self) -> BTreeMap<String, u64> {
        self.unfit.lock().map(|unfit| unfit.clone()).unwrap_or_default()
    }

    /// The traces of this code that may be right, those that serve nobody yet first.
    pub fn candidates(&self, code: u128, settings: Settings) -> Vec<&StoredTrace> {
        let of_code = self.traces.get(&code).map_or(&[][..], Vec::as_slice);
        let fits = |trace: &&StoredTrace| trace.settings == settings && !trace.unfit.load(Relaxed);
        let mut found: Vec<_> = of_code.iter().filter(fits).collect();
        found.sort_by_key(|trace| trace.used.load(Relaxed));
        found
    }

    /// The bytes of a trace, if what it was made in has the same hashes and libraries as this process, as far as that matters.
    pub fn bytes(&self, trace: &StoredTrace, py: Python<'_>) -> Result<&[u8], Misfit> {
        if trace.bound > ProcessBound::Nowhere && !self.same_hashes {
            return Err(Misfit::new("it may have seen the order of a set, and texts have other hashes here"));
        }
        for (name, then) in &self.libraries {
            if let Some(now) = version(py, name).filter(|now| now != then) {
                return Err(Misfit(format!("it was saved with {name} {then}; this process has {now}")));
            }
        }
        Ok(self.content.get(trace.range.clone()).ok_or(Damaged)?)
    }

    /// Notes that a trace does not fit.
    pub fn refuse(&self, trace: &StoredTrace, misfit: &Misfit) {
        let first = !trace.unfit.swap(true, Relaxed);
        if first && let Ok(mut unfit) = self.unfit.lock() {
            *unfit.entry(misfit.to_string()).or_default() += 1;
        }
    }

    /// Whether to wait for modules that a trace names and that nobody has imported: once, for a call that imports them perhaps.
    pub fn waits(&self, trace: &StoredTrace) -> bool {
        !trace.waited.swap(true, Relaxed)
    }

    /// All traces, for the next process, but those that nobody has used for long.
    pub fn lasting(&self) -> impl Iterator<Item = NewTrace> {
        self.traces.values().flatten().filter_map(|trace| {
            let idle = if trace.used.load(Relaxed) { 0 } else { trace.idle.saturating_add(1) };
            let bytes = self.content.get(trace.place()).filter(|_| idle <= LONGEST)?.to_vec();
            let StoredTrace { code, settings, bound, .. } = *trace;
            Some(NewTrace { code, settings, bound, idle, bytes })
        })
    }

    /// Libraries that had these versions.
    pub fn libraries(&self) -> Vec<(String, String)> {
        self.libraries.clone()
    }

    /// Whether texts have the hashes that they had.
    pub fn has_same_hashes(&self) -> bool {
        self.same_hashes
    }
}

impl StoredTrace {
    fn place(&self) -> Range<usize> {
        self.range.clone()
    }

    fn read(from: &mut Reader<'_>, length: usize) -> Result<Self, Damaged> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let code = from.digest()?;
        let settings = Settings::of(from.byte()?)?;
        let bound = if from.byte()? == 0 { ProcessBound::Nowhere } else { ProcessBound::Hashes };
        let idle = from.byte()?;
        let size = from.bytes()?.len();
        let end = length - from.rest().len();
        let (used, unfit, waited) = Default::default();
        let number = COUNT.fetch_add(1, Relaxed);
        Ok(Self { code, settings, bound, idle, range: end - size..end, number, used, unfit, waited })
    }
}

/// So often traces are saved before one that nobody uses is forgotten: several processes of one program save, and not each uses all.
const LONGEST: u8 = 64;

/// A trace for the next process.
#[derive(Clone, Debug)]
pub struct NewTrace {
    /// The digest of the code that was traced.
    pub code: u128,
    /// How it was compiled.
    pub settings: Settings,
    /// How far it is right elsewhere.
    pub bound: ProcessBound,
    /// How often traces were saved since it was used last.
    pub idle: u8,
    /// Guards and code.
    pub bytes: Vec<u8>,
}

impl NewTrace {
    /// Writes it.
    pub fn write(&self, out: &mut Writer) {
        out.digest(self.code);
        out.0.push(self.settings.byte());
        out.0.push(u8::from(self.bound > ProcessBound::Nowhere));
        out.0.push(self.idle);
        out.bytes(&self.bytes);
    }
}

/// Traces that were written as they were made, for what they are of may be gone when the process ends.
#[derive(Debug, Default)]
pub struct KeptTraces {
    /// Whether any are.
    pub keeps: AtomicBool,
    /// These.
    pub traces: Mutex<Vec<NewTrace>>,
    /// Modules that they name objects by.
    pub modules: Mutex<BTreeSet<String>>,
    /// What modules hold.
    pub nearby: Mutex<Nearby>,
    /// What objects of this process are like.
    pub fingerprints: Mutex<Fingerprints>,
}

/// The version of a library, if it is imported and says it.
pub fn version(py: Python<'_>, name: &str) -> Option<String> {
    let module = crate::ffi::modules::imported(&crate::names::interned(py, name))?;
    let version = module.cast::<pyo3::types::PyModule>().ok()?.dict().get_item("__version__").ok()??;
    version.cast::<pyo3::types::PyString>().ok().map(|version| version.to_string_lossy().into_owned())
}
