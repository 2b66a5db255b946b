//! The dispatcher of a compiled frame: guards first, a trace where none hold.
use super::cache::{Entry, Lookup, Misses, Table};
use super::compiled::Compiled;
use super::report::record::{Frame, Place};
use super::shared::Stance;
use crate::bytecode::Code;
use crate::ffi::callable::{Choice, Dispatch};
use crate::ffi::{Args, callee, eval_breaker, observers, types};
use crate::internal_error::InternalError;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// Why a call runs as it is while something observes.
const OBSERVED: &str =
    "frames are told to somebody: to a function of sys.settrace or sys.setprofile, or to a tool of sys.monitoring";

impl Compiled {
    /// The entries of this generation.
    pub(super) fn table(&self) -> PyResult<Arc<Table>> {
        let generation = self.unit.shared.generation.load(Relaxed);
        let mut cache = self.cache.lock().map_err(|_| poisoned())?;
        let stale = (cache.generation != generation).then(|| {
            (cache.generation, cache.full, cache.traced) = (generation, false, 0);
            cache.patience = Default::default();
            cache.changing.clear();
            cache.changed_again = false;
            cache.loaded.clear();
            std::mem::take(&mut cache.table)
        });
        let table = Arc::clone(&cache.table);
        drop(cache);
        if stale.is_some() {
            self.unit.kept.forget_guesses(generation);
            self.unit.loops.begin(generation);
        }
        drop(stale);
        Ok(table)
    }

    /// Whether the guards of an entry hold.
    pub(super) fn allows<'py>(&self, function: &Bound<'py, PyAny>, args: Args<'_, 'py>) -> PyResult<bool> {
        Ok(!matches!(self.table()?.find(args, function), Lookup::Miss(_)))
    }

    /// Puts a table in the place of the one that it was made from, if that is still there.
    pub(super) fn replace(&self, old: &Arc<Table>, new: Table) -> PyResult<()> {
        let mut cache = self.cache.lock().map_err(|_| poisoned())?;
        if Arc::ptr_eq(&cache.table, old) {
            cache.table = Arc::new(new);
        }
        Ok(())
    }

    pub(super) fn add(&self, entry: Entry) -> PyResult<()> {
        let mut cache = self.cache.lock().map_err(|_| poisoned())?;
        cache.traced += 1;
        let new = Arc::new(cache.table.with(entry));
        let old = std::mem::replace(&mut cache.table, new);
        drop(cache);
        drop(old);
        Ok(())
    }

    /// What to run where nothing waits.
    fn chosen<'py>(&self, function: &Bound<'py, PyAny>, args: Args<'_, 'py>) -> PyResult<Choice> {
        let stance = self.unit.shared.stance.get();
        if stance == Stance::Eager {
            return Ok(Choice::Original);
        }
        let table = self.table()?;
        if table.is_empty() && self.unit.is_closed() {
            return Ok(Choice::Original);
        }
        let missed = match table.find(args, function) {
            Lookup::Miss(missed) => missed,
            Lookup::Hit(entry) => return Ok(self.hit(entry, args.py())),
            Lookup::Checked(entry, looked) => {
                let chosen = self.hit(entry, args.py());
                if let Some(watching) = table.watching(&looked, function) {
                    self.replace(&table, watching)?;
                }
                return Ok(chosen);
            }
        };
        if let Some(loaded) = self.loaded(function, args)? {
            return Ok(loaded);
        }
        if let Some(instead) = self.instead(stance, function)? {
            return Ok(instead);
        }
        if self.forbidden(function, !table.is_empty(), || in_words(&missed, args, function))? {
            return Ok(Choice::Original);
        }
        if table.is_empty() {
            return self.compile(function, args, Vec::new());
        }
        let words = || in_words(&missed, args, function);
        if let Some(limit) = self.limit(&table, &missed, args.py())? {
            return self.give_up(function, &limit, words);
        }
        if let Some(limit) = self.loop_limit()? {
            return self.leave_loop(function, &limit, words);
        }
        let words = if self.unit.shared.records() { words() } else { Vec::new() };
        self.unit.shared.count(|counters| &counters.recompiles);
        self.note_numbers(&missed, function, args)?;
        self.compile(function, args, words)
    }

    /// Whether a library calls in the middle of a change, where not even guards may ask its objects anything.
    pub(super) fn is_amid_change(&self, args: Args<'_, '_>) -> bool {
        let domains = || self.unit.shared.trace_caches.domains.loaded(args.py());
        args.iter()
            .filter(|handed| types::is_c_class(&handed.get_type(), "method-wrapper"))
            .any(|handed| domains().iter().any(|domain| domain.is_amid_change(&handed)))
    }

    /// Notes where this call has other numbers than earlier ones: the next trace takes them for symbolic.
    fn note_numbers<'py>(
        &self,
        missed: &Misses<'_>,
        function: &Bound<'py, PyAny>,
        args: Args<'_, 'py>,
    ) -> PyResult<()> {
        if self.unit.options.dynamic == Some(false) {
            return Ok(());
        }
        let changed: Vec<u64> = missed.iter().flat_map(|(entry, _)| entry.changed_numbers(args, function)).collect();
        let mut cache = self.cache.lock().map_err(|_| poisoned())?;
        cache.changed_again |= changed.iter().any(|key| cache.changing.contains(key));
        cache.changing.extend(changed);
        Ok(())
    }

    /// What a call does instead of compiling.
    fn instead(&self, stance: Stance, function: &Bound<'_, PyAny>) -> PyResult<Option<Choice>> {
        match stance {
            Stance::Default => Ok(None),
            Stance::EagerThenCompile => {
                let first = self.resumed.is_none() && !self.called.swap(true, Relaxed);
                Ok(first.then_some(Choice::Original))
            }
            Stance::Eager | Stance::EagerOnRecompile => Ok(Some(Choice::Original)),
            Stance::FailOnRecompile => {
                let name = callee::qualname_of(function);
                let text = format!(
                    "{name} would be compiled, but the stance is 'fail_on_recompile': no compiled code is right for this call. \
                     Call it with such arguments before that stance is set, or set 'eager_on_recompile'"
                );
                Err(PyRuntimeError::new_err(text))
            }
        }
    }

    /// A call that no guards allow, of a frame that is not traced again: it runs as it is. Reported once.
    fn give_up(
        &self,
        function: &Bound<'_, PyAny>,
        limit: &str,
        missed: impl FnOnce() -> Vec<String>,
    ) -> PyResult<Choice> {
        let shared = &self.unit.shared;
        shared.count(|counters| &counters.frames_skipped);
        self.refuse_more(function, limit)?;
        let first = !std::mem::replace(&mut self.cache.lock().map_err(|_| poisoned())?.full, true);
        if !first {
            return Ok(Choice::Original);
        }
        let missed = missed();
        self.tell_limit(function, limit, &missed)?;
        if shared.records() {
            self.record_skipped(function, limit, missed)?;
        }
        Ok(Choice::Original)
    }

    /// The same in a loop, of which the program's log does not hear: the loop is slower than it could be, and as fast as without the compiler.
    fn leave_loop(
        &self,
        function: &Bound<'_, PyAny>,
        limit: &str,
        missed: impl FnOnce() -> Vec<String>,
    ) -> PyResult<Choice> {
        self.unit.shared.count(|counters| &counters.frames_skipped);
        if self.unit.shared.records() {
            self.record_skipped(function, limit, missed())?;
        }
        Ok(Choice::Original)
    }

    pub(super) fn record_skipped(
        &self,
        function: &Bound<'_, PyAny>,
        reason: &str,
        missed: Vec<String>,
    ) -> PyResult<()> {
        let code = Code::decode(&function.getattr("__code__")?)?;
        let skipped = Frame::skipped(self.place(function.py()), &code, reason.to_owned(), missed)?;
        self.unit.shared.record(function.py(), skipped);
        Ok(())
    }

    /// A call while frames are told to somebody, who would not see those that compiled code does not make: it runs as it is.
    fn run_observed(&self, function: &Bound<'_, PyAny>) -> PyResult<Choice> {
        if self.unit.shared.records() {
            self.record_skipped(function, OBSERVED, Vec::new())?;
        }
        Ok(Choice::Original)
    }

    fn hit(&self, entry: &Entry, py: Python<'_>) -> Choice {
        let Some(run) = entry.run(py) else { return Choice::Original };
        self.unit.shared.count(|counters| &counters.cache_hits);
        if self.resumed.is_some() {
            self.unit.loops.note_run();
        }
        Choice::Run(run)
    }

    pub(super) fn place<'py>(&self, py: Python<'py>) -> Place<'py> {
        Place { function: self.unit.function.bind(py).clone(), resumed_at: self.resumed.map(|resumed| resumed.line) }
    }
}

impl Dispatch for Compiled {
    /// While something waits to be handled, the frame runs as it is: only there are the places where the program looks for it,
    /// and its handlers.
    fn choose<'py>(&self, function: &Bound<'py, PyAny>, args: Args<'_, 'py>) -> PyResult<Choice> {
        if eval_breaker::is_set(args.py()) {
            return Ok(Choice::Original);
        }
        if observers::are_active(args.py())? {
            return self.run_observed(function);
        }
        self.chosen(function, args)
    }

    fn is_forwarder(&self) -> bool {
        self.forwarder
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        if self.resumed.is_none() {
            self.unit.traverse(visit);
        }
        let Ok(cache) = self.cache.try_lock() else { return };
        cache.table.traverse(visit);
    }

    fn clear(&self) {
        let taken = self.cache.lock().ok().and_then(|mut cache| cache.take());
        drop(taken);
        if self.resumed.is_none() {
            self.unit.close();
        }
    }
}

impl Drop for Compiled {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Which guards failed, each once, the latest entry's first.
fn in_words<'py>(missed: &Misses<'_>, args: Args<'_, 'py>, function: &Bound<'py, PyAny>) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for (entry, failed) in missed.iter().rev() {
        words.extend(entry.failure(*failed, args, function).filter(|text| !words.contains(text)));
    }
    words
}

pub(super) fn poisoned() -> PyErr {
    InternalError::new_err("the cache of a compiled function is poisoned by an earlier fault")
}
