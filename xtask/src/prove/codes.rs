//! `prove codes`: decodes and assembles every code object of the standard library, and compares.
use crate::obtain::{Interpreter, compiled};
use crate::testing::DECODED;
use crate::ui::{Advise, Step, step};
use crate::wheel::{self, Profile};
use crate::{place, run};
use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Args, Debug)]
pub struct Options {
    /// Releases (3.12); without any, all whose code objects are read
    releases: Vec<String>,
    /// Damage this many code objects at random instead
    #[arg(long, value_name = "N")]
    damaged: Option<u64>,
    /// First seed of the damage
    #[arg(long, default_value_t = 0)]
    start: u64,
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

/// What `tests/codes/damage.py` prints last.
#[derive(Debug, Deserialize, Serialize)]
pub struct Damage {
    #[serde(default)]
    release: String,
    /// Refused with an error that names an offset.
    #[serde(default)]
    refused: u64,
    /// Assembled all the same.
    #[serde(default)]
    sound: u64,
    /// Not made: CPython itself refused.
    #[serde(default, rename = "refused by CPython")]
    not_made: u64,
    /// What is wrong.
    pub different: Vec<String>,
}

impl Damage {
    /// How many code objects were damaged.
    pub fn inputs(&self) -> u64 {
        self.refused + self.sound + self.not_made
    }
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let all: Vec<String> = DECODED.clone();
    let releases = if options.releases.is_empty() { all } else { options.releases.clone() };
    if let Some(release) = releases.iter().find(|release| !DECODED.contains(release)) {
        return Err(anyhow!("slotrt does not read code objects of CPython {release}"))
            .advise(format!("known releases: {}", DECODED.join(", ")));
    }
    if let Some(count) = options.damaged {
        return damage(&releases, options.start, count, options.json);
    }
    let reports = releases.iter().map(|release| one(release)).collect::<Result<Vec<_>>>()?;
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

fn one(release: &str) -> Result<Report> {
    let (python, package) = prepared(release)?;
    let step = Step::start(format!("Code objects of CPython {}", python.full_version()));
    let output = run::output(&mut script(&python, &package, "run.py")).context("the runner failed")?;
    let mut report: Report = last_line(&output)?;
    report.release = python.full_version();
    step.done(format!("{} code objects", report.codes));
    Ok(report)
}

/// The interpreter, and the package built for it.
fn prepared(release: &str) -> Result<(Interpreter, PathBuf)> {
    let python = compiled::interpreter_of(release, None)?;
    let library = wheel::compile(&python, Profile::Dev)?;
    let package = wheel::tree(&python, &library)?;
    Ok((python, package))
}

fn script(python: &Interpreter, package: &Path, name: &str) -> Command {
    let mut command = Command::new(&python.executable);
    command.args(["-B", "-X", "faulthandler"]).arg(place::root().join("tests").join("codes").join(name));
    command.env("PYTHONPATH", package);
    command
}

fn last_line<T: DeserializeOwned>(output: &str) -> Result<T> {
    serde_json::from_str(output.lines().last().unwrap_or_default())
        .with_context(|| format!("the runner printed no report, but: {output}"))
}

/// Damages code objects and prints the outcome.
fn damage(releases: &[String], start: u64, count: u64, as_json: bool) -> Result<()> {
    let arguments = ["--start".to_owned(), start.to_string(), "--count".to_owned(), count.to_string()];
    let reports: Vec<Damage> = releases.iter().map(|release| run_damage(release, &arguments)).collect::<Result<_>>()?;
    if as_json {
        anstream::println!("{:#}", serde_json::to_string_pretty(&reports)?);
    } else {
        reports.iter().for_each(show_damage);
    }
    let bad: usize = reports.iter().map(|report| report.different.len()).sum();
    if bad > 0 { bail!("{bad} damaged code objects gave another error than they should") } else { Ok(()) }
}

/// Damages code objects for so many seconds.
pub fn damaged(release: &str, seconds: u64) -> Result<Damage> {
    run_damage(release, &["--seconds".to_owned(), seconds.to_string()])
}

fn run_damage(release: &str, arguments: &[String]) -> Result<Damage> {
    let (python, package) = prepared(release)?;
    let step = Step::start(format!("Damaged code objects, CPython {}", python.full_version()));
    let output =
        script(&python, &package, "damage.py").args(arguments).output().context("the runner does not start")?;
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let died = || format!("the runner ended with {}: {stderr}", output.status);
    let mut report: Damage = last_line(&stdout).with_context(died)?;
    report.release = python.full_version();
    step.done(format!("{} refused, {} sound", report.refused, report.sound));
    Ok(report)
}

fn show_damage(report: &Damage) {
    for difference in &report.different {
        anstream::println!("differs: {difference}");
    }
    let Damage { release, refused, sound, not_made, different } = report;
    anstream::println!(
        "CPython {release}: {refused} damaged code objects refused with an error that names an offset, {sound} assembled, {not_made} not made by CPython, {} differences",
        different.len()
    );
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
