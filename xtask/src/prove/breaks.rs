//! `prove breaks`: functions broken at every reachable instruction do what they do unbroken.
use crate::obtain::{interpreter, venv};
use crate::testing::{SUPPORTED, breaks_of_cpython};
use crate::ui::{Advise, Step, step};
use crate::wheel::Profile;
use crate::{develop, place};
use anyhow::{Context, Result, anyhow};
use clap::Args;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Programs in one process.
const BATCH: u64 = 10;

#[derive(Args, Debug)]
pub struct Options {
    /// First seed
    #[arg(long, default_value_t = 0)]
    start: u64,
    /// How many programs
    #[arg(long, default_value_t = 100)]
    count: u64,
    /// CPython's tests instead, each call of a function broken at its next instruction; all files of the measure, or these
    #[arg(long, value_name = "FILES", num_args = 0..)]
    cpython: Option<Vec<String>>,
    /// Run in this interpreter
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

/// What `tests/breaks/run.py` prints last.
#[derive(Debug, Default, Deserialize, Serialize)]
struct Report {
    programs: u64,
    unstable: u64,
    pairs: u64,
    refused: BTreeMap<String, u64>,
    different: Vec<serde_json::Value>,
}

impl Report {
    fn add(&mut self, other: Report) {
        self.programs += other.programs;
        self.unstable += other.unstable;
        self.pairs += other.pairs;
        self.different.extend(other.different);
        for (reason, pairs) in other.refused {
            *self.refused.entry(reason).or_default() += pairs;
        }
    }
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let base = match &options.python {
        Some(path) => interpreter::named(path)?,
        None => interpreter::find(SUPPORTED[SUPPORTED.len() - 1], None)?,
    };
    if let Some(files) = &options.cpython {
        return breaks_of_cpython(&base, files, options.json);
    }
    let python = venv::ensure(&base)?;
    develop::install(&python, Profile::Release)?;
    let step = Step::items(format!("Breaking random programs, CPython {}", base.full_version()), options.count);
    let mut report = Report::default();
    let end = options.start + options.count;
    for start in (options.start..end).step_by(BATCH as usize) {
        let count = BATCH.min(end - start);
        report.add(batch(&python.executable, start, count)?);
        step.advance(count);
    }
    step.done(format!("{} (function, instruction) pairs", report.pairs));
    if options.json {
        anstream::println!("{:#}", serde_json::to_string_pretty(&report)?);
    } else {
        show(&report);
    }
    let bad = report.different.len();
    if bad == 0 { Ok(()) } else { Err(anyhow!("{bad} programs behave differently when they are broken")) }
        .advise("`python tests/fuzz/generate.py SEED` writes the program of a seed")
}

fn batch(python: &Path, start: u64, count: u64) -> Result<Report> {
    let mut command = Command::new(python);
    command.arg(place::root().join("tests").join("breaks").join("run.py"));
    command.args(["--start", &start.to_string(), "--count", &count.to_string()]).env_remove("PYTHONPATH");
    command.env("PYTHONHASHSEED", "0").env("PYTHONDONTWRITEBYTECODE", "1");
    let output = command.output().context("the runner does not start")?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    let last = stdout.lines().last().unwrap_or_default();
    let died = || {
        let said = String::from_utf8_lossy(&output.stderr);
        step::suspended(|| said.lines().for_each(|line| anstream::eprintln!("    {line}")));
        format!("seeds {start} to {}: the runner ended with {}", start + count - 1, output.status)
    };
    serde_json::from_str(last).with_context(died)
}

fn show(report: &Report) {
    for difference in &report.different {
        anstream::println!("differs: {difference}");
    }
    for (reason, pairs) in &report.refused {
        anstream::println!("refused {pairs}: {reason}");
    }
    let refused: u64 = report.refused.values().sum();
    let Report { programs, unstable, pairs, different, .. } = report;
    anstream::println!(
        "{programs} programs ({unstable} more do not agree with themselves), {pairs} (function, instruction) pairs tried, {refused} refused, {} differences",
        different.len()
    );
}
