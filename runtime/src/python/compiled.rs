//! The dispatcher behind a compiled callable: guards first, a trace where none hold.
use super::cache::{Entry, Found, Missed, Table};
use super::errors::graph_break;
use super::family::{Family, Household};
use super::nested;
use super::record::{Frame, Place, Times};
use crate::bytecode::{Code, flag};
use crate::emit::{self, Emitted, Failure};
use crate::ffi::Args;
use crate::ffi::callable::{Chosen, Dispatch};
use crate::ffi::eval_breaker;
use crate::guard::{ChangeCounts, Program};
use crate::internal_error::InternalError;
use crate::trace::interrupted::set_off;
use crate::trace::outcome::{Break, Outcome};
use crate::trace::{self, Stop};
use pyo3::prelude::*;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Sets of guards one frame may have before it runs as it is.
const ENTRIES: usize = 8;

/// GuardMode often one frame is traced in all: what its guards rely on may change for ever.
const TRACES: usize = 64;

/// One function, or one continuation of it.
#[derive(Debug)]
pub struct Compiled {
    family: Arc<Family>,
    /// Where a continuation goes on.
    resumed: Option<Resumed>,
    cache: Arc<Mutex<Cache>>,
}

/// Where a continuation goes on.
#[derive(Clone, Copy, Debug)]
pub struct Resumed {
    /// The line.
    pub line: i32,
    /// Whether the frame stopped before the instruction, within a trace that ended there.
    pub entered: bool,
}

/// The entries of one frame.
#[derive(Debug, Default)]
pub struct Cache {
    generation: u64,
    /// Whether it was reported that no entry can be added.
    full: bool,
    /// GuardMode often the frame was traced, also for entries that are gone.
    traced: usize,
    table: Arc<Table>,
}

impl Compiled {
    /// The function itself.
    pub fn root(family: Arc<Family>) -> Self {
        Self { family, resumed: None, cache: Arc::default() }
    }

    /// The continuation that goes on there.
    pub fn continuation(family: Arc<Family>, resumed: Resumed) -> Self {
        Self { family, resumed: Some(resumed), cache: Arc::default() }
    }

    /// What the family keeps of a continuation to forget it by.
    pub fn cache(&self) -> Arc<Mutex<Cache>> {
        Arc::clone(&self.cache)
    }

    /// The entries of this generation.
    fn table(&self) -> PyResult<Arc<Table>> {
        let generation = self.family.shared.generation.load(Relaxed);
        let mut cache = self.cache.lock().map_err(|_| poisoned())?;
        let stale = (cache.generation != generation).then(|| {
            (cache.generation, cache.full, cache.traced) = (generation, false, 0);
            std::mem::take(&mut cache.table)
        });
        let table = Arc::clone(&cache.table);
        drop(cache);
        drop(stale);
        Ok(table)
    }

    /// Puts a table in the place of the one that it was made from, if that is still there.
    fn replace(&self, old: &Arc<Table>, new: Table) -> PyResult<()> {
        let mut cache = self.cache.lock().map_err(|_| poisoned())?;
        if Arc::ptr_eq(&cache.table, old) {
            cache.table = Arc::new(new);
        }
        Ok(())
    }

    /// Makes room where entries are in the way that can never be right again; else why the frame is not traced once more.
    fn limit(&self, table: &Arc<Table>, missed: &Missed<'_>, py: Python<'_>) -> PyResult<Option<String>> {
        let traced = self.cache.lock().map_err(|_| poisoned())?.traced;
        if traced >= TRACES {
            return Ok(Some(format!("traced {TRACES} times, the limit of one frame")));
        }
        if table.len() < ENTRIES {
            return Ok(None);
        }
        match table.living(missed, py) {
            Some(living) => self.replace(table, living).map(|()| None),
            None => Ok(Some(format!("traced {ENTRIES} times with different guards, the limit of one frame"))),
        }
    }

    fn add(&self, entry: Entry) -> PyResult<()> {
        let mut cache = self.cache.lock().map_err(|_| poisoned())?;
        cache.traced += 1;
        let new = Arc::new(cache.table.with(entry));
        let old = std::mem::replace(&mut cache.table, new);
        drop(cache);
        drop(old);
        Ok(())
    }

    /// What to run where nothing waits.
    fn chosen<'py>(&self, function: &Bound<'py, PyAny>, args: Args<'_, 'py>) -> PyResult<Chosen> {
        let table = self.table()?;
        if table.is_empty() && self.family.is_closed() {
            return Ok(Chosen::Original);
        }
        let missed = match table.find(args, function) {
            Found::Missed(missed) => missed,
            Found::Hit(entry) => return Ok(self.hit(entry, args.py())),
            Found::Looked(entry, looked) => {
                let chosen = self.hit(entry, args.py());
                if let Some(watching) = table.watching(&looked, function) {
                    self.replace(&table, watching)?;
                }
                return Ok(chosen);
            }
        };
        if table.is_empty() {
            return self.compile(function, args, Vec::new());
        }
        let words = if self.family.shared.records() { in_words(&missed, args, function) } else { Vec::new() };
        if let Some(limit) = self.limit(&table, &missed, args.py())? {
            return self.give_up(function, &limit, words);
        }
        self.family.shared.count(|counters| &counters.recompiles);
        self.compile(function, args, words)
    }

    fn compile<'py>(&self, function: &Bound<'py, PyAny>, args: Args<'_, 'py>, missed: Vec<String>) -> PyResult<Chosen> {
        let py = args.py();
        let original = function.getattr("__code__")?;
        let kept = Arc::clone(&self.family.kept);
        // A continuation's code runs nowhere but here: nothing asks for it again. Its control flow was followed when it was assembled.
        let code = if self.resumed.is_none() { kept.decode(&original)? } else { Arc::new(Code::read(&original)?) };
        if code.flags & flag::GENERATOR != 0 && !self.family.options.fullgraph && !code.is_continuation(py) {
            return self.begin(function, &code, original);
        }
        let locals: Vec<_> = args.iter().map(|value| Some(value.to_owned().unbind())).collect();
        let start = Instant::now();
        let passing_states = self.family.options.fullgraph || self.table()?.is_empty();
        let stop_at = self.family.shared.stop_at;
        let fullgraph = self.family.options.fullgraph;
        // A continuation may break where a trace before it has told of the break.
        let refuses = fullgraph && self.resumed.is_none();
        let options =
            trace::Options { passing_states, stop_at, fullgraph: refuses, kept, ..trace::Options::of(fullgraph) };
        let traced = trace::trace(py, &self.family.shared.lasting, function, &code, &locals, &options);
        let trace_ns = start.elapsed().as_nanos() as u64;
        let outcome = match traced {
            Ok(outcome) => outcome,
            Err(Stop::Internal(text)) => return Err(InternalError::new_err(text)),
            Err(Stop::Fallback(reason)) => return self.skip(function, &code, original, reason),
        };
        self.family.shared.add(|counters| &counters.instructions, outcome.steps);
        self.family.shared.add(|counters| &counters.repeated, outcome.repeated);
        self.family.shared.add(|counters| &counters.trace_ns, trace_ns);
        let waiting = outcome.signals.clone();
        if !waiting.is_empty() && self.family.options.fullgraph {
            return run_interrupted(py, &waiting);
        }
        self.refuse_break(py, &code, &outcome)?;
        nested::expect(py, &self.family, &outcome.inside)?;
        let frame = self
            .family
            .shared
            .records()
            .then(|| Frame::new(self.place(py), &code, &outcome, self.graph_break(&code, &outcome)))
            .transpose()?;
        let begun = emit::TracedFrame { function, arguments: &locals };
        let start = Instant::now();
        let emitted = match emit::emit(py, &code, begun, outcome, &Household(Arc::clone(&self.family))) {
            Ok(emitted) => emitted,
            Err(Failure::Python(error)) => return Err(error),
            Err(Failure::Refused(_)) if !waiting.is_empty() => return run_interrupted(py, &waiting),
            Err(Failure::Refused(reason)) => return self.skip(function, &code, original, reason),
        };
        let emit_ns = start.elapsed().as_nanos() as u64;
        self.family.shared.add(|counters| &counters.emit_ns, emit_ns);
        let times = Times { trace: trace_ns, backend: self.family.take_backend_ns(), emit: emit_ns };
        let words = frame.as_ref().map(Frame::words);
        if let Some(mut frame) = frame {
            if let Ok(found) = emitted.guards.check(args, function) {
                frame.watch(&emitted.guards.residual(&found, function, &ChangeCounts::default()).modes);
            }
            self.family.shared.record(py, frame.finish(py, &emitted, times, missed)?);
        }
        if !waiting.is_empty() {
            return Ok(Chosen::Run(emitted.function));
        }
        let run = self.install(py, original, emitted, words)?;
        if eval_breaker::is_set(py) { Ok(Chosen::Original) } else { Ok(run) }
    }

    /// A generator's frame stays where it was made; its body runs in continuations, each traced when it begins.
    fn begin<'py>(&self, function: &Bound<'py, PyAny>, code: &Code, original: Bound<'py, PyAny>) -> PyResult<Chosen> {
        let py = function.py();
        let run = match emit::begin(py, code, function, &Household(Arc::clone(&self.family))) {
            Ok(run) => run,
            Err(Failure::Python(error)) => return Err(error),
            Err(Failure::Refused(reason)) => return self.skip(function, code, original, reason),
        };
        let guards = Program::new(py, Vec::new())?;
        self.add(Entry::new(original.unbind(), guards, None, run.clone_ref(py)))?;
        Ok(Chosen::Run(run))
    }

    fn place<'py>(&self, py: Python<'py>) -> Place<'py> {
        Place { function: self.family.function.bind(py).clone(), resumed_at: self.resumed.map(|resumed| resumed.line) }
    }

    /// Under `fullgraph`, a break is an error; everywhere it is counted.
    fn refuse_break(&self, py: Python<'_>, code: &Code, outcome: &Outcome) -> PyResult<()> {
        let Some((reason, code, at)) = self.graph_break(code, outcome) else { return Ok(()) };
        self.family.shared.count(|counters| &counters.graph_breaks);
        if !self.family.options.fullgraph {
            return Ok(());
        }
        Err(graph_break(py, reason, &code.file, code.line(at)))
    }

    /// The graph break that a trace ends with, and where it is; none where another trace has told of it.
    fn graph_break<'a>(&self, code: &'a Code, outcome: &'a Outcome) -> Option<(&'a Break, &'a Code, usize)> {
        let entered = self.resumed.filter(|resumed| resumed.entered);
        let told = |at: usize| entered.is_some_and(|entered| entered.line == code.line(at));
        outcome.end.graph_break(code).filter(|(_, place, at)| !std::ptr::eq(*place, code) || !told(*at))
    }

    fn install(
        &self,
        py: Python<'_>,
        code: Bound<'_, PyAny>,
        emitted: Emitted,
        words: Option<Arc<[String]>>,
    ) -> PyResult<Chosen> {
        self.family.shared.count(|counters| &counters.frames_compiled);
        let run = emitted.function;
        self.add(Entry::new(code.unbind(), emitted.guards, words, run.clone_ref(py)))?;
        Ok(Chosen::Run(run))
    }

    /// A call that no guards allow, of a frame that is not traced again: it runs as it is. Reported once.
    fn give_up(&self, function: &Bound<'_, PyAny>, limit: &str, missed: Vec<String>) -> PyResult<Chosen> {
        let py = function.py();
        let shared = &self.family.shared;
        shared.count(|counters| &counters.frames_skipped);
        let first = !std::mem::replace(&mut self.cache.lock().map_err(|_| poisoned())?.full, true);
        if first && shared.records() {
            let code = Code::decode(&function.getattr("__code__")?)?;
            shared.record(py, Frame::skipped(self.place(py), &code, limit.to_owned(), missed)?);
        }
        Ok(Chosen::Original)
    }

    fn hit(&self, entry: &Entry, py: Python<'_>) -> Chosen {
        let Some(run) = entry.run(py) else { return Chosen::Original };
        self.family.shared.count(|counters| &counters.cache_hits);
        Chosen::Run(run)
    }

    /// The frame runs as it is, from now on.
    fn skip<'py>(
        &self,
        function: &Bound<'py, PyAny>,
        code: &Code,
        original: Bound<'py, PyAny>,
        reason: String,
    ) -> PyResult<Chosen> {
        let py = function.py();
        let shared = &self.family.shared;
        shared.count(|counters| &counters.frames_skipped);
        if self.family.options.fullgraph {
            let reason = Break {
                kind: "frame left alone".into(),
                context: reason,
                explanation: "The frame cannot be traced as a whole, so it runs uncompiled.".into(),
                hints: vec!["compile the functions that it calls".into()],
            };
            return Err(graph_break(py, &reason, &code.file, code.firstlineno));
        }
        if shared.records() {
            shared.record(py, Frame::skipped(self.place(py), code, reason, Vec::new())?);
        }
        self.add(Entry::original(original.unbind()))?;
        Ok(Chosen::Original)
    }
}

impl Dispatch for Compiled {
    /// While something waits to be handled, the frame runs as it is: only there are the places where the program looks for it,
    /// and its handlers.
    fn choose<'py>(&self, function: &Bound<'py, PyAny>, args: Args<'_, 'py>) -> PyResult<Chosen> {
        if eval_breaker::is_set(args.py()) {
            return Ok(Chosen::Original);
        }
        self.chosen(function, args)
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        if self.resumed.is_none() {
            self.family.traverse(visit);
        }
        let Ok(cache) = self.cache.try_lock() else { return };
        cache.table.traverse(visit);
    }

    fn clear(&self) {
        let taken = self.cache.lock().ok().and_then(|mut cache| cache.take());
        drop(taken);
        if self.resumed.is_none() {
            self.family.close();
        }
    }
}

impl Drop for Compiled {
    fn drop(&mut self) {
        self.clear();
    }
}

impl Cache {
    /// Takes all entries out; the caller drops them after it let go of the lock.
    pub fn take(&mut self) -> Option<Arc<Table>> {
        (!self.table.is_empty()).then(|| std::mem::take(&mut self.table))
    }
}

/// The frame runs as it is this once, and handles what waits as it begins.
fn run_interrupted(py: Python<'_>, waiting: &[i32]) -> PyResult<Chosen> {
    set_off(py, waiting)?;
    Ok(Chosen::Original)
}

/// Which guards failed, each once, the latest entry's first.
fn in_words<'py>(missed: &Missed<'_>, args: Args<'_, 'py>, function: &Bound<'py, PyAny>) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for (entry, failed) in missed.iter().rev() {
        words.extend(entry.failure(*failed, args, function).filter(|text| !words.contains(text)));
    }
    words
}

fn poisoned() -> PyErr {
    InternalError::new_err("the cache of a compiled function is poisoned by an earlier fault")
}
