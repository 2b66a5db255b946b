//! `test --transparency`: runs CPython's regression tests with and without the evaluation hook, and compares.
use super::cpython::module;
use super::python::{Counts, tally};
use super::tally::Tally;
use crate::obtain::{Interpreter, venv};
use crate::ui::{Step, step};
use crate::wheel::Profile;
use crate::{develop, place};
use anyhow::{Context, Result};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// Runs the files (all that tests/transparency/run.py lists where none is named) without the hook and in its modes.
///
/// `modes` are those of `slotrt.hook.install`, separated by commas.
pub fn run(base: &Interpreter, files: &[String], modes: &str) -> Result<Tally> {
    let python = venv::ensure(base)?;
    develop::install(&python, Profile::Release)?;
    let step = Step::start(format!("CPython's tests under the hook, CPython {}", base.full_version()));
    let mut command = Command::new(&python.executable);
    command.arg(place::root().join("tests").join("transparency").join("run.py")).args(["--modes", modes]);
    command.args(files.iter().map(|file| module(file))).env_remove("PYTHONPATH").env("PYTHONDONTWRITEBYTECODE", "1");
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().context("the runner does not start")?;
    let mut last = None;
    for line in child.stdout.take().map(BufReader::new).into_iter().flat_map(|lines| lines.lines()) {
        let line = line?;
        match serde_json::from_str::<Counts>(&line) {
            Ok(counts) => last = Some(counts),
            Err(_) => step::suspended(|| anstream::eprintln!("    {line}")),
        }
    }
    let status = child.wait()?;
    let counts = last.with_context(|| format!("the runner ended with {status} before it counted"))?;
    let tally = tally(counts, "");
    step.done(tally.summary());
    Ok(tally)
}
