//! The cache entries of one frame: sets of guards, each with the code that it allows. Steps that entries begin with alike run once a call.
use super::report::describe;
use crate::emit::{GraphForBackend, Rebuild};
use crate::ffi::{Args, function};
use crate::guard::{ChangeCounts, GuardFailure, Program, Registers, Residual, Selection, Stop};
use crate::stored::Seen;
use pyo3::prelude::*;
use smallvec::SmallVec;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

/// Compiled code, and when it is right.
#[derive(Debug)]
pub struct Entry {
    /// The code object that was traced; the function may get another one assigned.
    code: Py<PyAny>,
    guards: Option<Program>,
    /// The guards in words, where records are kept.
    words: Option<Arc<[String]>>,
    /// `None`: the frame runs as it is.
    run: Option<Py<PyAny>>,
    kept: KeptOfTrace,
    changes: Mutex<ChangeCounts>,
}

/// What is kept of a trace for other processes.
#[derive(Debug, Default)]
pub struct KeptOfTrace {
    /// How far what it has seen is so there.
    pub seen: Seen,
    /// What else it takes to make the code.
    pub rebuild: Rebuild,
    /// Code objects whose frames are compiled when the native call that the trace ends with reaches them.
    pub inside: Vec<Py<PyAny>>,
    /// Whether it is written already: it was read, or is kept as bytes.
    pub is_written: AtomicBool,
}

impl Entry {
    /// Code that runs where the guards hold.
    pub fn new(
        code: Py<PyAny>,
        guards: Program,
        words: Option<Arc<[String]>>,
        run: Py<PyAny>,
        kept: KeptOfTrace,
    ) -> Self {
        Self { code, guards: Some(guards), words, run: Some(run), kept, changes: Mutex::default() }
    }

    /// The frame runs as it is, whatever the call.
    pub fn original(code: Py<PyAny>) -> Self {
        let (kept, changes) = (KeptOfTrace::default(), Mutex::default());
        Self { code, guards: None, words: None, run: None, kept, changes }
    }

    /// What is kept of the trace for other processes.
    pub fn kept(&self) -> &KeptOfTrace {
        &self.kept
    }

    /// The graph that a backend got.
    pub fn rebuilt_graph(&self) -> Option<&GraphForBackend> {
        self.kept.rebuild.graph.as_ref()
    }

    /// What runs; `None`: the frame as it is.
    pub fn run(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.run.as_ref().map(|run| run.clone_ref(py))
    }

    /// The code that was traced, the guards, and what runs; `None` where that is the frame as it is.
    pub fn compiled(&self) -> Option<(&Py<PyAny>, &Program, &Py<PyAny>)> {
        Some((&self.code, self.guards.as_ref()?, self.run.as_ref()?))
    }

    /// A guard that does not hold in this call, in words, with what is the case instead.
    pub fn failure<'py>(&self, guard: usize, args: Args<'_, 'py>, function: &Bound<'py, PyAny>) -> Option<String> {
        let program = self.guards.as_ref()?;
        let known = self.words.as_ref().and_then(|words| words.get(guard).cloned());
        let words = known.or_else(|| program.reason(guard))?;
        Some(match program.now(guard, args, function, describe::text) {
            Some(now) => format!("{words}: {now}"),
            None => words,
        })
    }

    /// Where the call has other numbers than the guards ask for.
    pub fn changed_numbers<'py>(&self, args: Args<'_, 'py>, function: &Bound<'py, PyAny>) -> Vec<u64> {
        self.guards.as_ref().map_or_else(Vec::new, |guards| guards.changed_numbers(args, function))
    }

    /// Has what was found to hold watched from now on, after what was watched before has changed.
    fn watch<'py>(
        &self,
        found: &Registers<'py>,
        function: &Bound<'py, PyAny>,
        before: Option<&Residual>,
    ) -> Option<Residual> {
        let mut changes = self.changes.lock().ok()?;
        before.into_iter().for_each(|residual| changes.note(residual));
        Some(self.guards.as_ref()?.residual(found, function, &changes))
    }

    /// Has what a failure is due to watched, so that it need not be seen again.
    fn watch_failure<'py>(
        &self,
        failed: &GuardFailure<'py>,
        function: &Bound<'py, PyAny>,
        before: Option<&Residual>,
    ) -> Option<Residual> {
        let mut changes = self.changes.lock().ok()?;
        before.into_iter().for_each(|residual| changes.note(residual));
        self.guards.as_ref()?.lasting_failure(failed, function, &mut changes)
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Py<PyAny>)) {
        visit(&self.code);
        self.guards.iter().for_each(|guards| guards.traverse(visit));
        self.kept.rebuild.traverse(visit);
        if let Some(run) = &self.run {
            visit(run);
            function::visit_constants(run, visit);
        }
    }
}

/// An entry, and what of its guards is checked at each call.
#[derive(Clone, Debug)]
struct Row {
    entry: Arc<Entry>,
    /// What is left to check; `None` until a call has found the guards to hold.
    residual: Option<Arc<Residual>>,
    /// A failure that lasts until what it is due to changes.
    failing: Option<Arc<Residual>>,
    /// How many steps it begins with that the row before begins with, too.
    shared: usize,
}

impl Row {
    /// What is left to check, if the row can be right for a call of the function: it is for its code, and nothing tells otherwise.
    fn usable(&self, function: &Bound<'_, PyAny>) -> Option<&Residual> {
        let fails = self.failing.as_ref().is_some_and(|failing| failing.holds());
        let residual = self.residual.as_deref().filter(|residual| !fails && residual.holds())?;
        function::runs(function, self.entry.code.as_ptr()).then_some(residual)
    }
}

/// All entries of a frame; it never changes, another one takes its place.
#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<Row>,
    /// Finds the row that allows a call among those that something is watched for, if they are several.
    selection: Option<Arc<Selection>>,
}

/// A row that does not allow a call by what is watched, and its guard that fails, if that is known.
struct Left<'a> {
    index: usize,
    row: &'a Row,
    fails: Option<(usize, &'a Residual)>,
}

/// What was found for a call; small, for most calls hit at once.
pub enum Lookup<'a, 'py> {
    /// All guards of this entry hold.
    Hit(&'a Arc<Entry>),
    /// The same, and some guards were looked at in full.
    Checked(&'a Arc<Entry>, Box<CheckResults<'py>>),
    /// No entry is right: of each the guard that failed.
    Miss(Vec<(&'a Entry, usize)>),
}

/// What the guards of rows that were looked at in full found.
#[derive(Default)]
pub struct CheckResults<'py> {
    held: Option<(usize, Registers<'py>)>,
    failed: Vec<(usize, Box<GuardFailure<'py>>)>,
}

/// Entries, and the guard of each that does not hold.
pub type Misses<'a> = [(&'a Entry, usize)];

impl Table {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// All of them.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.rows.iter().map(|row| &*row.entry)
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Of these rows, those that begin alike side by side.
    fn of(mut rows: Vec<Row>, py: Python<'_>) -> Self {
        share(&mut rows, py);
        let watched = rows.iter().enumerate().filter_map(|(index, row)| Some((index, row.residual.as_deref()?)));
        let selection = Selection::new(&watched.collect::<Vec<_>>(), py).map(Arc::new);
        Self { rows, selection }
    }

    /// An entry for the function's code whose guards hold: first those are tried of which little has to be checked.
    pub fn find<'py>(&self, args: Args<'_, 'py>, function: &Bound<'py, PyAny>) -> Lookup<'_, 'py> {
        if let [row] = &*self.rows
            && let Some(residual) = row.usable(function)
            && residual.allows(args, function)
        {
            residual.serve();
            return Lookup::Hit(&row.entry);
        }
        if let Some(selection) = &self.selection {
            let usable = |index: usize| self.rows.get(index)?.usable(function);
            let found = selection.find(&usable, args, function);
            if let Some(row) = found.and_then(|index| self.rows.get(index)) {
                return Lookup::Hit(&row.entry);
            }
        }
        self.tried(args, function)
    }

    /// The same, each entry in turn: if there is none, this says why.
    fn tried<'py>(&self, args: Args<'_, 'py>, function: &Bound<'py, PyAny>) -> Lookup<'_, 'py> {
        let mut registers = Registers::new();
        // How many steps of the row that was checked last are known to hold, and how many the rows since begin with, too.
        let mut before: Option<(usize, usize)> = None;
        let mut left: SmallVec<[Left<'_>; 4]> = SmallVec::new();
        for (index, row) in self.rows.iter().enumerate() {
            let reached = before.map(|(reached, common)| (reached, common.min(row.shared)));
            before = reached;
            if !function::runs(function, row.entry.code.as_ptr()) {
                continue;
            }
            let Some(_) = &row.entry.guards else { return Lookup::Hit(&row.entry) };
            if let Some(failing) = row.failing.as_ref().filter(|residual| residual.holds())
                && let Some(guard) = failing.fails
            {
                failing.serve();
                left.push(Left { index, row, fails: Some((guard, failing)) });
                continue;
            }
            let Some(residual) = row.residual.as_ref().filter(|residual| residual.holds()) else {
                left.push(Left { index, row, fails: None });
                continue;
            };
            residual.serve();
            let stopped = match reached {
                Some((reached, common)) if reached < common => Err(residual.stop(reached)),
                Some((_, common)) => residual.check(common, &mut registers, args, function),
                None => residual.check(0, &mut registers, args, function),
            };
            match stopped {
                Ok(()) => return Lookup::Hit(&row.entry),
                Err(Stop::Fails(step)) => {
                    before = Some((step, usize::MAX));
                    left.push(Left { index, row, fails: Some((residual.guard_of(step), residual)) });
                }
                Err(Stop::Unknown(step)) => {
                    before = step.map(|step| (step, usize::MAX));
                    left.push(Left { index, row, fails: None });
                }
            }
        }
        Self::checked(&left, args, function)
    }

    /// Checks in full what is left after no entry was found by what is watched.
    fn checked<'a, 'py>(left: &[Left<'a>], args: Args<'_, 'py>, function: &Bound<'py, PyAny>) -> Lookup<'a, 'py> {
        let (mut missed, mut failures) = (Vec::new(), Vec::new());
        for Left { index, row, fails } in left {
            // What fails was looked for where it was before.
            if let Some((guard, residual)) = fails
                && residual.is_current_for(args)
            {
                missed.push((&*row.entry, *guard));
                continue;
            }
            let Some(guards) = &row.entry.guards else { continue };
            match guards.check(args, function) {
                Ok(found) => {
                    let looked = CheckResults { held: Some((*index, found)), failed: failures };
                    return Lookup::Checked(&row.entry, Box::new(looked));
                }
                Err(failed) => {
                    missed.push((&*row.entry, failed.guard));
                    failures.push((*index, failed));
                }
            }
        }
        Lookup::Miss(missed)
    }

    /// The same with one entry more.
    pub fn with(&self, entry: Entry) -> Self {
        let mut rows = self.rows.clone();
        rows.push(Row { entry: Arc::new(entry), residual: None, failing: None, shared: 0 });
        Self { rows, selection: self.selection.clone() }
    }

    /// The same with what was looked at in full watched from now on; `None` where there is nothing new to watch.
    pub fn watching<'py>(&self, looked: &CheckResults<'py>, function: &Bound<'py, PyAny>) -> Option<Self> {
        let py = function.py();
        let mut rows = self.rows.clone();
        let mut changed = false;
        for (index, failed) in &looked.failed {
            let row = &mut rows[*index];
            if let Some(failing) = row.entry.watch_failure(failed, function, row.failing.as_deref()) {
                row.failing = Some(Arc::new(failing));
                changed = true;
            }
        }
        if let Some((index, found)) = &looked.held {
            let row = &mut rows[*index];
            row.residual = row.entry.watch(found, function, row.residual.as_deref()).map(Arc::new);
            row.failing = None;
            place(&mut rows, *index, py);
            changed = true;
        }
        changed.then(|| Self::of(rows, py))
    }

    /// The same without the entries that can never be right again; `None` where there is no such entry.
    pub fn living(&self, missed: &Misses<'_>, py: Python<'_>) -> Option<Self> {
        let dead = |entry: &Entry| {
            let of = missed.iter().find(|(known, _)| std::ptr::eq(*known, entry));
            of.is_some_and(|(entry, guard)| entry.guards.as_ref().is_some_and(|guards| guards.is_final(*guard)))
        };
        self.filtered(|entry| !dead(entry), py)
    }

    /// The same without the entries that are for objects which are gone; `None` where there is no such entry.
    pub fn without_over(&self, py: Python<'_>) -> Option<Self> {
        self.filtered(|entry| entry.guards.as_ref().is_none_or(|guards| !guards.is_over(py)), py)
    }

    fn filtered(&self, stays: impl Fn(&Entry) -> bool, py: Python<'_>) -> Option<Self> {
        let rows: Vec<Row> = self.rows.iter().filter(|row| stays(&row.entry)).cloned().collect();
        (rows.len() < self.rows.len()).then(|| Self::of(rows, py))
    }

    /// The same without the entry that has served the fewest calls since it was last looked at in full.
    pub fn without_least_used(&self, py: Python<'_>) -> Self {
        let mut rows = self.rows.clone();
        let served = |row: &Row| row.residual.as_ref().map_or(0, |residual| residual.calls());
        if let Some((index, _)) = rows.iter().enumerate().min_by_key(|(_, row)| served(row)) {
            rows.remove(index);
        }
        Self::of(rows, py)
    }

    /// Shows what the entries own, unless they have an owner that the collector does not know: a call that looks through them.
    pub fn traverse(self: &Arc<Self>, visit: &mut dyn FnMut(&Py<PyAny>)) {
        if Arc::strong_count(self) > 1 || self.rows.iter().any(|row| Arc::strong_count(&row.entry) > 1) {
            return;
        }
        self.rows.iter().for_each(|row| row.entry.traverse(visit));
    }
}

/// Moves a row behind the last of those with which it shares most, so that all that begin alike stay side by side.
fn place(rows: &mut Vec<Row>, at: usize, py: Python<'_>) {
    let row = rows.remove(at);
    let shared = |other: &Row| match (&row.residual, &other.residual) {
        (Some(residual), Some(other)) => residual.shared(other, py),
        _ => 0,
    };
    let most = rows.iter().map(shared).max().unwrap_or(0);
    let last = rows.iter().rposition(|other| shared(other) == most);
    let to = last.filter(|_| most > 0).map_or(at, |last| last + 1);
    rows.insert(to, row);
}

/// Counts what each row shares with the one before.
fn share(rows: &mut [Row], py: Python<'_>) {
    let mut before: Option<Arc<Residual>> = None;
    for row in rows {
        row.shared = match (&before, &row.residual) {
            (Some(before), Some(residual)) => before.shared(residual, py),
            _ => 0,
        };
        before.clone_from(&row.residual);
    }
}
