//! `prove effects`: runs C functions on the interpreter, and compares what they did with their effects.
use crate::obtain::{Interpreter, compiled};
use crate::place;
use crate::testing::{SUPPORTED, bodies};
use crate::ui::table::table;
use crate::ui::{Advise, Step, step};
use anyhow::{Context, Result, anyhow};
use clap::Args;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

/// What `prove effects` takes.
#[derive(Args, Debug)]
pub struct Options {
    /// Releases (3.13); without any, all that are traced; without sources of its own, one is held to the claims of the next
    #[arg(long = "release", value_name = "SERIES")]
    releases: Vec<String>,
    /// Use this interpreter: a path, or a series (3.14), of which Debian's is unpacked where none is installed
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// Only these functions: C names, separated by commas
    #[arg(long, value_name = "NAMES")]
    functions: Option<String>,
    /// Argument lists tried for each way to reach a function
    #[arg(long, default_value_t = 300)]
    limit: u32,
    /// Print the reports as JSON
    #[arg(long)]
    json: bool,
}

/// What `tests/effects/run.py` prints last.
#[derive(Debug, Deserialize, Serialize)]
pub struct Report {
    release: String,
    /// The release whose sources the claims are from.
    claims_of: String,
    /// Functions of the published effects.
    functions: u64,
    /// Functions that ran.
    pub tried: u64,
    ways: u64,
    pub calls: u64,
    /// A call each that contradicts a claim.
    #[serde(rename = "false")]
    pub contradicted: Vec<String>,
    /// Ways that ended the process or took too long.
    died: Vec<String>,
    /// Functions that were not run, by why not.
    untried: BTreeMap<String, u64>,
    notes: Vec<String>,
    seconds: f64,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let mut reports = Vec::new();
    for python in compiled::interpreters(&options.releases, options.python.as_deref(), &SUPPORTED)? {
        let mut arguments = vec!["--limit".to_owned(), options.limit.to_string()];
        if let Some(functions) = &options.functions {
            arguments.extend(["--only".to_owned(), functions.clone()]);
        }
        reports.push(one(&python, &arguments)?);
    }
    if options.json {
        anstream::println!("{}", serde_json::to_string_pretty(&reports)?);
    } else {
        reports.iter().for_each(show);
    }
    if let Some(idle) = reports.iter().find(|report| report.calls == 0) {
        return Err(anyhow!("CPython {}: no function was run", idle.release))
            .advise("spell the names after `--functions` as in C: list_append, math_gcd");
    }
    match reports.iter().map(|report| report.contradicted.len()).sum::<usize>() {
        0 => Ok(()),
        count => {
            Err(anyhow!("{count} claims are false")).advise("`cargo xtask effects NAME` shows where a claim comes from")
        }
    }
}

/// Runs the functions on one interpreter.
pub fn one(python: &Interpreter, arguments: &[String]) -> Result<Report> {
    let series = python.series();
    let Some(claims) = bodies(&series).filter(|_| SUPPORTED.contains(&series)) else {
        return Err(anyhow!("there are no effects of CPython {series} to try"))
            .advise(format!("known releases: {}", SUPPORTED.join(", ")));
    };
    let step = Step::start(format!("Effects of the C functions of CPython {}", python.full_version()));
    let mut command = Command::new(&python.executable);
    command.args(["-B", "-I"]).arg(place::root().join("tests").join("effects").join("run.py"));
    command.arg(place::root().join("generated").join("facts").join(format!("{claims}.json"))).args(arguments);
    let output = command.output().context("the runner does not start")?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    let said = || format!("the runner ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr));
    let report: Report = serde_json::from_str(stdout.lines().last().unwrap_or_default()).with_context(said)?;
    step.done(format!("{} functions, {} calls", report.tried, report.calls));
    Ok(report)
}

fn show(report: &Report) {
    step::suspended(|| {
        report.contradicted.iter().for_each(|call| anstream::println!("false: {call}"));
        report.died.iter().for_each(|name| anstream::println!("ended its process or took too long: {name}"));
        report.notes.iter().for_each(|note| anstream::println!("note: {note}"));
        let mut untried: Vec<_> = report.untried.iter().collect();
        untried.sort_by_key(|(why, count)| (std::cmp::Reverse(**count), *why));
        let rows: Vec<_> = untried.iter().map(|(why, count)| vec![count.to_string(), (*why).clone()]).collect();
        anstream::println!("{}", table(&["functions", "not run because"], &rows));
        anstream::println!(
            "CPython {}, claims of {}: {} of {} functions run through {} ways in {} calls ({} s), {} claims false\n",
            report.release,
            report.claims_of,
            report.tried,
            report.functions,
            report.ways,
            report.calls,
            report.seconds,
            report.contradicted.len()
        );
    });
}
