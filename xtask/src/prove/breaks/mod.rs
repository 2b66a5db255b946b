//! `prove breaks`: breaks functions at every reachable instruction, and compares them with the same functions unbroken.
mod report;
mod unit;

use crate::obtain::{compiled, interpreter, venv};
use crate::testing::newest;
use crate::ui::{Advise, Step};
use crate::wheel::Profile;
use crate::{develop, place};
use anyhow::{Result, anyhow};
use clap::Args;
use report::Ledger;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use unit::Unit;

#[derive(Args, Debug)]
pub struct Options {
    /// First seed of the random programs
    #[arg(long, default_value_t = 0)]
    start: u64,
    /// How many random programs
    #[arg(long, default_value_t = 100)]
    count: u64,
    /// Break calls into the standard library (tests/breaks/library.py) instead of random programs: all, or these
    #[arg(long, value_name = "NAMES", num_args = 0..)]
    library: Option<Vec<String>>,
    /// Break CPython's tests instead: all files that `test --transparency` runs, or these
    #[arg(long, value_name = "FILES", num_args = 0..)]
    cpython: Option<Vec<String>>,
    /// Break all three
    #[arg(long, conflicts_with_all = ["library", "cpython"])]
    all: bool,
    /// Run each of CPython's tests at most this often, as long as a round breaks something new
    #[arg(long, value_name = "N", default_value_t = 60)]
    rounds: u32,
    /// Keep the results in this file; if it exists, go on where the last run stopped
    #[arg(long, value_name = "FILE")]
    into: Option<PathBuf>,
    /// Start nothing new after this many seconds
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,
    /// Processes at a time
    #[arg(long, value_name = "N", default_value_t = 2)]
    jobs: usize,
    /// Run in this interpreter
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let base = match &options.python {
        Some(path) => compiled::named(path)?,
        None => interpreter::find(newest(), None)?,
    };
    let python = venv::ensure(&base)?;
    develop::install(&python, Profile::Release)?;
    let mut ledger = Ledger::open(options.into.as_deref(), &base.full_version())?;
    let units = unit::wanted(options, &python.executable)?;
    let todo: Vec<Unit> = units.into_iter().filter(|unit| !ledger.has(&unit.name())).collect();
    let step =
        Step::items(format!("Breaking at every instruction, CPython {}", base.full_version()), todo.len() as u64);
    let left = prove(options, &python.executable, &todo, &mut ledger, &step)?;
    step.done(ledger.report.summary());
    if options.json {
        anstream::println!("{:#}", serde_json::to_string_pretty(&ledger.report.numbers())?);
    } else {
        ledger.report.show();
    }
    if left > 0 {
        anstream::println!("{left} units are left: run the command again with the same `--into`");
    }
    let bad = ledger.report.different.len();
    if bad == 0 { Ok(()) } else { Err(anyhow!("{bad} programs or tests behave differently when they are broken")) }
        .advise("`python tests/fuzz/generate.py SEED` writes the program of a seed; `prove breaks --start SEED --count 1` breaks it again")
}

/// Runs the units, some at a time; gives how many were not begun.
fn prove(options: &Options, python: &Path, todo: &[Unit], ledger: &mut Ledger, step: &Step) -> Result<usize> {
    let end = options.seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let late = || end.is_some_and(|end| Instant::now() > end);
    let (next, ledger) = (AtomicUsize::new(0), Mutex::new(ledger));
    let begun = AtomicUsize::new(0);
    let work = || -> Result<()> {
        while !late() {
            let Some(unit) = todo.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
            begun.fetch_add(1, Ordering::Relaxed);
            step.at(unit.name());
            let report = unit.run(python, &place::root())?;
            ledger.lock().map_err(|_| anyhow!("a worker ended early"))?.add(&unit.name(), report)?;
            step.advance(1);
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..options.jobs.max(1)).map(|_| scope.spawn(work)).collect();
        let ended = |worker: std::thread::ScopedJoinHandle<'_, Result<()>>| {
            worker.join().unwrap_or_else(|_| Err(anyhow!("a worker ended early")))
        };
        workers.into_iter().map(ended).collect::<Vec<_>>().into_iter().collect::<Result<()>>()
    })?;
    Ok(todo.len() - begun.load(Ordering::Relaxed))
}
