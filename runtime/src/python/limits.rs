//! Limits on how often a frame is traced. A frame that reaches one is told of once, and gets another chance after a while: what kept
//! changing may change no more.
use super::cache::Misses;
use super::cache::Table;
use super::compiled::Compiled;
use super::dispatch::poisoned;
use super::frame_cache::Cache;
use crate::ffi::callee;
use pyo3::prelude::*;
use std::sync::Arc;

/// Sets of guards that one frame may have before it runs as it is, unless another number was asked for.
const ENTRIES: usize = 8;

/// How often one frame is traced in all, for each set that it may have: what its guards rely on may change for ever.
const TRACES: usize = 8;

impl Compiled {
    /// How many sets of guards the frame may have, and how often it may be traced.
    fn limits(&self) -> [usize; 2] {
        let entries =
            self.unit.options.recompile_limit.or_else(|| self.unit.shared.frontend.limit()).unwrap_or(ENTRIES);
        [entries, entries.saturating_mul(TRACES)]
    }

    /// Whether the frame may be traced once more.
    pub(super) fn has_room(&self) -> PyResult<bool> {
        let (table, [entries, traces]) = (self.table()?, self.limits());
        let traced = self.cache.lock().map_err(|_| poisoned())?.traced;
        Ok(table.len() < entries && traced < traces)
    }

    /// Makes room: lets go of entries for objects that are gone, and, where they are in the way, of others that can never be right again, or where it is time for another chance; else why the
    /// frame is not traced once more.
    pub(super) fn limit(&self, table: &Arc<Table>, missed: &Misses<'_>, py: Python<'_>) -> PyResult<Option<String>> {
        let [entries, traces] = self.limits();
        let left = table.without_over(py);
        let over = left.is_some();
        left.map_or(Ok(()), |left| self.replace(table, left))?;
        let mut cache = self.cache.lock().map_err(|_| poisoned())?;
        if cache.traced >= traces {
            let text = format!("traced {traces} times, the limit of one frame");
            return Ok((!self.is_time(&mut cache, table, py)).then_some(text));
        }
        if over || table.len() < entries {
            return Ok(None);
        }
        drop(cache);
        if let Some(living) = table.living(missed, py) {
            return self.replace(table, living).map(|()| None);
        }
        let mut cache = self.cache.lock().map_err(|_| poisoned())?;
        let text = format!("traced {entries} times with different guards, the limit of one frame");
        Ok((!self.is_time(&mut cache, table, py)).then_some(text))
    }

    /// Why a continuation in a loop is not traced once more: each step of the loop has needed a trace of its own.
    pub(super) fn loop_limit(&self) -> PyResult<Option<String>> {
        let [entries, _] = self.limits();
        let in_loop = self.cache.lock().map_err(|_| poisoned())?.in_loop;
        let may = !in_loop || self.unit.loops.may_trace(entries);
        Ok((!may)
            .then(|| format!("its loops were traced again {entries} times, more than they have run what was traced")))
    }

    /// Whether the frame gets another chance: then the entry that served least makes room.
    fn is_time(&self, cache: &mut Cache, table: &Arc<Table>, py: Python<'_>) -> bool {
        let time = cache.patience.ends();
        if time && table.len() >= self.limits()[0] && Arc::ptr_eq(&cache.table, table) {
            cache.table = Arc::new(table.without_least_used(py));
        }
        time
    }

    /// Whether the next trace is one of the last: then guards are kept in words, to tell which one kept failing.
    pub(super) fn is_near_limit(&self) -> PyResult<bool> {
        let [entries, traces] = self.limits();
        let cache = self.cache.lock().map_err(|_| poisoned())?;
        Ok(cache.table.len() + 2 >= entries || cache.traced + 2 >= traces)
    }

    /// Tells, in the log of the program, that calls run uncompiled from now on.
    pub(super) fn tell_limit(&self, function: &Bound<'_, PyAny>, limit: &str, missed: &[String]) -> PyResult<()> {
        let py = function.py();
        let code = function.getattr("__code__")?;
        let place = self.place(py);
        let name = place.function.getattr("__qualname__")?;
        let resumed = place.resumed_at.map(|line| format!(", from line {line} on")).unwrap_or_default();
        let mut text = format!(
            "{name} ({}:{}){resumed}: {limit}. Calls that fit none of its traces run uncompiled for a while.",
            code.getattr("co_filename")?,
            code.getattr("co_firstlineno")?,
        );
        if let Some(guard) = missed.first() {
            text.push_str(&format!("\n  the guard that kept failing: {guard}"));
        }
        text.push_str(
            "\n  slotrt.explain(f)(...) shows all guards; slotrt.compile(f, recompile_limit=…) allows more traces; slotrt.disable(f) leaves \
             a function alone for good",
        );
        let log = crate::ffi::modules::import(py, "logging")?.call_method1("getLogger", ("slotrt",))?;
        log.call_method1("warning", ("%s", text)).map(drop)
    }

    /// Whether settings of a frontend forbid the trace of a frame, which has others already or none. What they make an error is raised.
    pub(super) fn forbidden(
        &self,
        function: &Bound<'_, PyAny>,
        again: bool,
        missed: impl Fn() -> Vec<String>,
    ) -> PyResult<bool> {
        let Some((asked, settings)) = self.unit.shared.frontend.ask(function.py())? else { return Ok(false) };
        if again && settings.once && !settings.off {
            asked.call_method1("refuse_again", (callee::qualname_of(function), missed()))?;
        }
        Ok(settings.off)
    }

    /// Raises where settings of a frontend make it an error that a frame has reached its limit.
    pub(super) fn refuse_more(&self, function: &Bound<'_, PyAny>, limit: &str) -> PyResult<()> {
        let Some((asked, settings)) = self.unit.shared.frontend.ask(function.py())? else { return Ok(()) };
        if settings.strict || self.unit.options.fullgraph {
            asked.call_method1("refuse_more", (callee::qualname_of(function), limit, settings.strict))?;
        }
        Ok(())
    }
}
