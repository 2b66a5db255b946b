//! The work of one process: some random programs, one group of library calls, or one file of CPython's tests.
use super::Options;
use super::report::Report;
use crate::run as program;
use crate::testing::module;
use crate::ui::step;
use anyhow::{Context, Result};
use serde::de::DeserializeOwned;
use std::path::Path;
use std::process::Command;

/// Random programs in one process.
const BATCH: u64 = 10;

/// One process.
#[derive(Debug)]
pub enum Unit {
    /// Seeds.
    Programs { start: u64, count: u64 },
    /// A name in tests/breaks/library.py.
    Library(String),
    /// A module of CPython's tests, each test at most so often.
    Tests { file: String, rounds: u32 },
}

/// The units that the options name.
pub fn wanted(options: &Options, python: &Path) -> Result<Vec<Unit>> {
    let mut units = Vec::new();
    if options.all || (options.library.is_none() && options.cpython.is_none()) {
        let end = options.start + options.count;
        let batch = |start| Unit::Programs { start, count: BATCH.min(end - start) };
        units.extend((options.start..end).step_by(BATCH as usize).map(batch));
    }
    if let Some(names) = options.library.as_deref().or(options.all.then_some(&[])) {
        let names = if names.is_empty() { list(python, "breaks")? } else { names.to_vec() };
        units.extend(names.into_iter().map(Unit::Library));
    }
    if let Some(files) = options.cpython.as_deref().or(options.all.then_some(&[])) {
        let files = if files.is_empty() { list(python, "transparency")? } else { files.to_vec() };
        let unit = |file: String| Unit::Tests { file: module(&file), rounds: options.rounds };
        units.extend(files.into_iter().map(unit));
    }
    Ok(units)
}

fn runner(python: &Path, folder: &str, root: &Path) -> Command {
    let mut command = Command::new(python);
    command.arg(root.join("tests").join(folder).join("run.py")).env_remove("PYTHONPATH");
    command.env("PYTHONHASHSEED", "0").env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

fn list(python: &Path, folder: &str) -> Result<Vec<String>> {
    let printed = program::output(runner(python, folder, &crate::place::root()).arg("--list"))?;
    serde_json::from_str(&printed).context("the runner printed no list")
}

impl Unit {
    /// What a kept report calls it.
    pub fn name(&self) -> String {
        match self {
            Self::Programs { start, count } => format!("seeds {start} to {}", start + count - 1),
            Self::Library(name) => format!("library: {name}"),
            Self::Tests { file, .. } => file.clone(),
        }
    }

    /// Runs it.
    pub fn run(&self, python: &Path, root: &Path) -> Result<Report> {
        match self {
            Self::Programs { start, count } => {
                let range = ["--start", &start.to_string(), "--count", &count.to_string()].map(str::to_owned);
                self.last_line(runner(python, "breaks", root).args(range))
            }
            Self::Library(name) => self.last_line(runner(python, "breaks", root).args(["--library", name])),
            Self::Tests { file, rounds } => {
                let mut command = runner(python, "transparency", root);
                command.args(["--modes", "split", "--jobs", "1", "--rounds", &rounds.to_string(), file]);
                Ok(Report::of_tests(self.last_line(&mut command)?))
            }
        }
    }

    fn last_line<T: DeserializeOwned>(&self, command: &mut Command) -> Result<T> {
        let output = command.output().context("the runner does not start")?;
        let stdout = String::from_utf8_lossy(&output.stdout);
        let died = || {
            let said = String::from_utf8_lossy(&output.stderr);
            step::suspended(|| said.lines().for_each(|line| anstream::eprintln!("    {line}")));
            format!("{}: the runner ended with {}", self.name(), output.status)
        };
        serde_json::from_str(stdout.lines().last().unwrap_or_default()).with_context(died)
    }
}
