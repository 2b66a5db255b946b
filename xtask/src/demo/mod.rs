//! `demo`: shows the whole way from CPython's C sources to a traced and re-emitted function.
mod data;
mod render;
mod sections;

use crate::obtain::{Interpreter, interpreter, releases, sources, venv};
use crate::ui::{Advise, Step};
use crate::wheel::Profile;
use crate::{develop, place, regen, run};
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

/// Shows the whole way from CPython's C sources to a traced program
///
/// Start here to see what the project does: generated Rust, graphs, guards, breaks, bytecode, results. It fetches CPython's sources, builds the runtime and traces tests/demo/program.py: user
/// classes with `__or__` and `__ror__`, `dict | dict`, numpy arrays, a loop, a helper, and a `print` that breaks the graph.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  cargo xtask demo                       finds or fetches all it needs\n  \
    cargo xtask demo --full                prints bytecode listings whole\n  \
    cargo xtask demo --source ~/cpython    reads the sources you have\n  \
    cargo xtask demo --json > demo.json    writes the same as JSON")]
pub struct Options {
    /// CPython release to show
    #[arg(long, default_value = "3.13")]
    release: String,
    /// The interpreter to run in
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// Take the sources from here: a directory or a release tarball
    #[arg(long, value_name = "DIR|TARBALL")]
    source: Option<PathBuf>,
    /// Print bytecode listings whole
    #[arg(long)]
    full: bool,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
}

/// What the demo shows.
#[derive(Serialize)]
pub struct Shown {
    /// Version of the sources.
    sources: String,
    /// Version of the interpreter.
    interpreter: String,
    /// What slotgen read and made, by name.
    counts: Vec<(String, usize)>,
    /// Where `generated/` differs from what the sources give.
    changes: Vec<String>,
    /// Seconds per step before the program ran.
    seconds: Vec<(&'static str, f64)>,
    /// The traced program.
    program: data::Record,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let shown = collect(options)?;
    if options.json {
        anstream::println!("{}", serde_json::to_string_pretty(&shown)?);
    } else {
        anstream::println!("{}", render::report(&shown, options.full));
    }
    verdict(&shown)
}

/// What must be true of the demo for it to have shown anything.
fn verdict(shown: &Shown) -> Result<()> {
    let (runs, explain) = (&shown.program.runs, &shown.program.explain);
    ensure!(runs.iter().all(|run| run.same), "compiled and uncompiled runs differ: this is a bug of slotrt");
    let alone = explain.frames.iter().find_map(|frame| Some((&frame.name, frame.skipped.as_ref()?)));
    if let Some((name, why)) = alone {
        bail!("`{name}` was not traced: {why}");
    }
    ensure!(
        explain.breaks >= 1 && explain.graphs > explain.breaks,
        "the program must give a graph on both sides of its break"
    );
    let through = |name: &str| {
        explain
            .frames
            .iter()
            .flat_map(|frame| &frame.routes)
            .any(|route| route.functions.iter().any(|found| found == name))
    };
    for function in ["binary_op1", "slot_nb_or", "dict_or"] {
        ensure!(through(function), "no operation went through `{function}`");
    }
    Ok(())
}

fn collect(options: &Options) -> Result<Shown> {
    let mut clock = Clock::default();
    let series = releases::series_of(&options.release);
    let base = interpreter::find(&series, options.python.as_deref())?;
    let python = clock.time("environment", || venv::ensure(&base))?;
    let sources = clock.time("sources", || sources::obtain(&options.release, options.source.as_deref()))?;
    let report = clock.time("generate", || regen::compare(&sources))?;
    clock.time("build", || develop::install(&python, Profile::Release))?;
    let program = clock.time("program", || trace(&python))?;
    Ok(Shown {
        sources: sources.version,
        interpreter: python.full_version(),
        counts: regen::counts(&report),
        changes: report.changes.iter().map(ToString::to_string).collect(),
        seconds: clock.0,
        program,
    })
}

/// Runs the driver in the environment and reads what it wrote.
fn trace(python: &Interpreter) -> Result<data::Record> {
    let step = Step::start("Tracing tests/demo/program.py");
    let room = tempfile::tempdir()?;
    let destination = room.path().join("demo.json");
    let mut command = Command::new(&python.executable);
    command.env("PYTHONDONTWRITEBYTECODE", "1").env("PYTHONFAULTHANDLER", "1").env_remove("PYTHONPATH");
    command.arg(place::root().join("tests").join("demo").join("driver.py")).arg(&destination);
    run::output(&mut command)
        .context("the demo's program did not run")
        .advise("`cargo xtask test --only python` shows whether the runtime works here")?;
    let text = std::fs::read_to_string(&destination)?;
    let record: data::Record = serde_json::from_str(&text).context("`slotrt.explain` says something unexpected")?;
    step.done(format!("{} graphs, {} graph breaks", record.explain.graphs, record.explain.breaks));
    Ok(record)
}

/// Seconds per step.
#[derive(Default)]
struct Clock(Vec<(&'static str, f64)>);

impl Clock {
    fn time<T>(&mut self, name: &'static str, step: impl FnOnce() -> Result<T>) -> Result<T> {
        let start = Instant::now();
        let result = step()?;
        self.0.push((name, start.elapsed().as_secs_f64()));
        Ok(result)
    }
}
