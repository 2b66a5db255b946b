//! `prove codes`: every code object of a release's standard library, decoded and assembled, is itself again.
use crate::obtain::{Interpreter, compiled, interpreter};
use crate::ui::{Step, step};
use crate::wheel::{self, Profile};
use crate::{place, run};
use anyhow::{Context, Result, bail};
use clap::Args;
use serde::{Deserialize, Serialize};
use std::process::Command;

/// Releases whose code objects the runtime reads and writes.
const RELEASES: [&str; 5] = ["3.11", "3.12", "3.13", "3.14", "3.15"];

#[derive(Args, Debug)]
pub struct Options {
    /// Releases (3.12); without any, 3.11 to 3.15
    releases: Vec<String>,
    /// Print the reports as JSON
    #[arg(long)]
    json: bool,
}

/// What `tests/codes/run.py` prints last.
#[derive(Debug, Deserialize, Serialize)]
struct Report {
    #[serde(default)]
    release: String,
    codes: u64,
    instructions: u64,
    effects: u64,
    differences: u64,
    different: Vec<String>,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let all: Vec<String> = RELEASES.iter().map(|release| (*release).to_owned()).collect();
    let releases = if options.releases.is_empty() { all } else { options.releases.clone() };
    let mut reports = Vec::new();
    for release in &releases {
        if !RELEASES.contains(&release.as_str()) {
            bail!("code objects are read of {}, not of {release}", RELEASES.join(", "));
        }
        reports.push(one(release)?);
    }
    if options.json {
        anstream::println!("{:#}", serde_json::to_string_pretty(&reports)?);
    } else {
        reports.iter().for_each(show);
    }
    let bad: u64 = reports.iter().map(|report| report.differences).sum();
    if bad > 0 {
        bail!("{bad} code objects, instructions or stack effects differ");
    }
    Ok(())
}

fn python(release: &str) -> Result<Interpreter> {
    if let Ok(python) = interpreter::find(release, None) {
        return Ok(python);
    }
    let launcher = compiled::find(release)?.python;
    // An unpacked interpreter starts through its launcher alone, with the libraries that it was built for.
    let mut python = interpreter::named(&launcher)?;
    python.executable = launcher;
    Ok(python)
}

fn one(release: &str) -> Result<Report> {
    let python = python(release)?;
    let library = wheel::compile(&python, Profile::Dev)?;
    let package = wheel::tree(&python, &library)?;
    let step = Step::start(format!("Code objects of CPython {}", python.full_version()));
    let mut command = Command::new(&python.executable);
    command.arg("-B").arg(place::root().join("tests").join("codes").join("run.py"));
    command.env("PYTHONPATH", package);
    let output = run::output(&mut command).context("the runner failed")?;
    let mut report: Report = serde_json::from_str(output.lines().last().unwrap_or_default())
        .with_context(|| format!("the runner said: {output}"))?;
    report.release = python.full_version();
    step.done(format!("{} code objects", report.codes));
    Ok(report)
}

fn show(report: &Report) {
    step::suspended(|| {
        for difference in &report.different {
            anstream::println!("differs: {difference}");
        }
        anstream::println!(
            "CPython {}: {} code objects with {} instructions, {} stack effects compared, {} differences",
            report.release,
            report.codes,
            report.instructions,
            report.effects,
            report.differences
        );
    });
}
