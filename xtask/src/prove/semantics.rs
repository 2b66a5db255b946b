//! `prove semantics`: runs translated functions on real objects, and compares them with the interpreter's.
use super::against;
use crate::obtain::{Interpreter, compiled};
use crate::place;
use crate::run;
use crate::testing::LIVE;
use crate::ui::{Advise, Step, step};
use crate::wheel::{self, Profile};
use anyhow::{Result, anyhow};
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

/// What is compared with the interpreter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Against {
    /// Operations compiled by TorchDynamo of the PyTorch environment
    Dynamo,
}

#[derive(Args, Debug)]
pub struct Options {
    /// Releases (3.13); without any, all that are traced
    #[arg(long = "release", value_name = "SERIES")]
    releases: Vec<String>,
    /// Use this interpreter: a path, or a series (3.14), of which Debian's is unpacked where none is installed
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// Only these functions: C names, separated by commas
    #[arg(long, value_name = "NAMES")]
    functions: Option<String>,
    /// At most this many cases of one function
    ///
    /// Without it, 1000; with `--against`, 10000 cases in all.
    #[arg(long)]
    limit: Option<u32>,
    /// Processes at a time; without it, half the processors
    #[arg(long)]
    jobs: Option<u32>,
    /// Only one part of the functions: 2/5 is the second of five
    #[arg(long, value_name = "N/OF")]
    part: Option<String>,
    /// Build the runtime without optimisation: builds faster, and checks its arithmetic
    #[arg(long)]
    debug: bool,
    /// Compare another implementation with the interpreter instead of the translated functions
    #[arg(long, value_enum, conflicts_with_all = ["releases", "python", "functions", "part", "debug"])]
    against: Option<Against>,
    /// With `--against`: only operations that contain this, such as `|` or `len(`
    #[arg(long, value_name = "TEXT", requires = "against")]
    operations: Option<String>,
    /// Print the reports as JSON, with the functions that ended unsupported
    #[arg(long)]
    json: bool,
}

/// A difference: the function, what it was compared with, what differs, how often, and the first cases.
#[derive(Debug, Deserialize, Serialize)]
struct Group {
    function: String,
    against: String,
    differs: String,
    count: u64,
    cases: Vec<String>,
}

/// What `tests/semantics/run.py` prints last.
#[derive(Debug, Deserialize, Serialize)]
struct Report {
    #[serde(default)]
    release: String,
    cases: u64,
    values: u64,
    exposed: u64,
    #[serde(rename = "slot functions")]
    slot_functions: u64,
    exercised: u64,
    entered: u64,
    differences: u64,
    groups: Vec<Group>,
    operations: BTreeMap<String, u64>,
    unsupported: BTreeMap<String, u64>,
    stopped: BTreeMap<String, u64>,
    #[serde(rename = "left out")]
    left_out: Vec<String>,
    #[serde(rename = "too large")]
    too_large: u64,
    slow: Vec<String>,
    seconds: f64,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    if let Some(Against::Dynamo) = options.against {
        let asked = against::Asked {
            limit: options.limit.unwrap_or(10_000),
            jobs: options.jobs,
            only: options.operations.as_deref().unwrap_or_default(),
            as_json: options.json,
        };
        return against::run(&asked);
    }
    let mut reports = Vec::new();
    for python in compiled::interpreters(&options.releases, options.python.as_deref(), &LIVE)? {
        if !LIVE.contains(&python.series()) {
            return Err(anyhow!("translated functions do not run on CPython {}", python.series()))
                .advise(format!("known releases: {}", LIVE.join(", ")));
        }
        reports.push(one(&python, options)?);
    }
    if options.json {
        anstream::println!("{:#}", serde_json::to_string_pretty(&reports)?);
    } else {
        reports.iter().for_each(show);
    }
    if let Some(idle) = reports.iter().find(|report| report.cases == 0) {
        return Err(anyhow!("CPython {}: no function was compared", idle.release))
            .advise("spell the names after `--functions` as in C: PyNumber_Or, dict_or");
    }
    let bad: u64 = reports.iter().map(|report| report.differences).sum();
    if bad > 0 {
        return Err(anyhow!("{bad} cases differ from the interpreter"))
            .advise("`cargo xtask translate NAME` shows a function's C beside its Rust");
    }
    Ok(())
}

fn one(python: &Interpreter, options: &Options) -> Result<Report> {
    let library = wheel::compile(python, if options.debug { Profile::Dev } else { Profile::Release })?;
    let package = wheel::tree(python, &library)?;
    let step = Step::start(format!("Semantics of CPython {}", python.full_version()));
    let mut command = Command::new(&python.executable);
    command.arg("-B").arg(place::root().join("tests").join("semantics").join("run.py")).arg("--progress");
    command.arg("--limit").arg(options.limit.unwrap_or(1000).to_string());
    if let Some(functions) = &options.functions {
        command.arg("--functions").arg(functions);
    }
    if let Some(jobs) = options.jobs {
        command.arg("--jobs").arg(jobs.to_string());
    }
    if let Some(part) = &options.part {
        command.arg("--part").arg(part);
    }
    command.env("PYTHONPATH", package);
    let mut report: Report = run::report(&mut command, "the runner", |line| step.at(line))?;
    report.release = python.full_version();
    step.done(format!("{} cases", report.cases));
    Ok(report)
}

fn show(report: &Report) {
    step::suspended(|| {
        for Group { function, against, differs, count, cases } in &report.groups {
            anstream::println!("{function} ({against}): {differs} differs in {count} cases");
            cases.iter().for_each(|case| anstream::println!("    {case}"));
        }
        show_unsupported(&report.unsupported);
        report.slow.iter().for_each(|case| anstream::println!("took too long: {case}"));
        let operations: Vec<_> = report.operations.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
        anstream::println!("cases of Python's operations: {}", operations.join(", "));
        let Report { release, cases, values, seconds, exercised, exposed, slot_functions, .. } = report;
        anstream::println!(
            "CPython {release}: {cases} cases over {values} values in {seconds} s: {exercised} functions compared \
             ({exposed} public ones exposed, {slot_functions} in slots of the values' types), {} entered, \
             {} public functions left out, {} cases ended unsupported, {} differences",
            report.entered,
            report.left_out.len(),
            report.unsupported.values().sum::<u64>(),
            report.differences
        );
    });
}

fn show_unsupported(unsupported: &BTreeMap<String, u64>) {
    let mut names: Vec<_> = unsupported.iter().collect();
    names.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), (*name).clone()));
    if !names.is_empty() {
        anstream::println!("ended at what real objects are not asked for, by name:");
        names.iter().take(20).for_each(|(name, count)| anstream::println!("    {count:>8} {name}"));
    }
    if names.len() > 20 {
        anstream::println!("             and {} more names (--json shows all)", names.len() - 20);
    }
}
