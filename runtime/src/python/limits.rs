//! Limits on how often a frame is traced. A frame that reaches one is told of once, and gets another chance after a while: what kept
//! changing may change no more.
use super::cache::Misses;
use super::cache::Table;
use super::compiled::Compiled;
use super::dispatch::poisoned;
use super::frame_cache::Cache;
use pyo3::prelude::*;
use std::sync::Arc;

/// Sets of guards one frame may have before it runs as it is.
const ENTRIES: usize = 8;

/// How often one frame is traced in all: what its guards rely on may change for ever.
const TRACES: usize = 64;

/// Calls that run uncompiled before a frame is traced once more: at first, and at most.
const PATIENCE: std::ops::RangeInclusive<u32> = 64..=4096;

/// How long a frame that has reached a limit has waited for another chance.
#[derive(Debug, Default)]
pub struct Patience {
    calls: u32,
    /// Chances so far.
    chances: u32,
}

impl Patience {
    /// Counts a call that runs uncompiled; whether it is time for another chance. Each takes twice as long as the one before.
    fn ends(&mut self) -> bool {
        self.calls += 1;
        let needed =
            PATIENCE.start().checked_shl(self.chances).unwrap_or(u32::MAX).clamp(*PATIENCE.start(), *PATIENCE.end());
        if self.calls < needed {
            return false;
        }
        (self.calls, self.chances) = (0, (self.chances + 1).min(16));
        true
    }
}

impl Compiled {
    /// Whether the frame may be traced once more.
    pub(super) fn has_room(&self) -> PyResult<bool> {
        let table = self.table()?;
        let traced = self.cache.lock().map_err(|_| poisoned())?.traced;
        Ok(table.len() < ENTRIES && traced < TRACES)
    }

    /// Makes room where entries are in the way that can never be right again, or where it is time for another chance; else why the
    /// frame is not traced once more.
    pub(super) fn limit(&self, table: &Arc<Table>, missed: &Misses<'_>, py: Python<'_>) -> PyResult<Option<String>> {
        let mut cache = self.cache.lock().map_err(|_| poisoned())?;
        if cache.traced >= TRACES {
            let text = format!("traced {TRACES} times, the limit of one frame");
            return Ok((!self.is_time(&mut cache, table)).then_some(text));
        }
        if table.len() < ENTRIES {
            return Ok(None);
        }
        drop(cache);
        if let Some(living) = table.living(missed, py) {
            return self.replace(table, living).map(|()| None);
        }
        let mut cache = self.cache.lock().map_err(|_| poisoned())?;
        let text = format!("traced {ENTRIES} times with different guards, the limit of one frame");
        Ok((!self.is_time(&mut cache, table)).then_some(text))
    }

    /// Whether the frame gets another chance: then the entry that served least makes room.
    fn is_time(&self, cache: &mut Cache, table: &Arc<Table>) -> bool {
        let time = cache.patience.ends();
        if time && table.len() >= ENTRIES && Arc::ptr_eq(&cache.table, table) {
            cache.table = Arc::new(table.without_least_used());
        }
        time
    }

    /// Whether the next trace is one of the last: then guards are kept in words, to tell which one kept failing.
    pub(super) fn is_near_limit(&self) -> PyResult<bool> {
        let cache = self.cache.lock().map_err(|_| poisoned())?;
        Ok(cache.table.len() + 2 >= ENTRIES || cache.traced + 2 >= TRACES)
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
            "\n  slotrt.explain(f)(...) shows all guards; slotrt.disable(f) leaves a function alone for good",
        );
        let log = py.import("logging")?.call_method1("getLogger", ("slotrt",))?;
        log.call_method1("warning", ("%s", text)).map(drop)
    }
}
