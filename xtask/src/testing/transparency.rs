//! `test --transparency`: CPython's regression tests under the evaluation hook give what they give without it.
use super::cpython::{module, pairwise};
use super::tally::Tally;
use crate::obtain::{Interpreter, venv};
use crate::ui::{Step, step};
use crate::wheel::Profile;
use crate::{develop, place};
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Time for one file in one mode.
const LIMIT: Duration = Duration::from_secs(300);

/// Frames observed only, and every frame run from a code object that was decoded and assembled again.
const MODES: [&str; 2] = ["observe", "reassemble"];

/// What `tests/transparency/run.py` prints.
#[derive(Debug, Default, Deserialize)]
struct Outcomes {
    ran: usize,
    outcomes: BTreeMap<String, Vec<String>>,
}

/// Runs the files (all of `tests/transparency/files.txt` where none is named) in all modes.
pub fn run(base: &Interpreter, files: &[String]) -> Result<Tally> {
    let python = venv::ensure(base)?;
    develop::install(&python, Profile::Release)?;
    let files = if files.is_empty() { standard() } else { files.iter().map(|file| module(file)).collect() };
    let step =
        Step::items(format!("CPython's tests under the hook, CPython {}", base.full_version()), files.len() as u64);
    let tallies = pairwise(&files, &step, |file| one(&python, file))?;
    let mut tally = Tally::default();
    tallies.into_values().for_each(|file| tally.add(file));
    step.done(format!("{} files, {}", files.len(), tally.summary()));
    Ok(tally)
}

fn standard() -> Vec<String> {
    let lines = include_str!("../../../tests/transparency/files.txt").lines();
    lines.filter(|line| !line.starts_with('#') && !line.is_empty()).map(str::to_owned).collect()
}

/// One file in every mode; a test passes where its outcome is the one without the hook.
fn one(python: &Interpreter, file: &str) -> Result<Tally> {
    let plain = outcomes(python, "plain", file)?;
    let mut tally = Tally::default();
    for mode in MODES {
        let found = match outcomes(python, mode, file) {
            Ok(found) => found,
            Err(error) => {
                tally.failed.push(format!("{file} ({mode}): {error:#}"));
                continue;
            }
        };
        let differences = differences(&plain, &found);
        tally.passed += found.ran.saturating_sub(differences.len());
        for difference in differences {
            step::suspended(|| anstream::eprintln!("    {file} ({mode}): {difference}"));
            tally.failed.push(format!("{file} ({mode}): {}", difference.lines().next().unwrap_or_default()));
        }
    }
    Ok(tally)
}

/// Tests whose outcome changed.
fn differences(plain: &Outcomes, found: &Outcomes) -> Vec<String> {
    let mut texts = Vec::new();
    let kinds = |outcomes: Option<&Vec<String>>| -> Vec<String> {
        let texts = outcomes.into_iter().flatten();
        texts.map(|text| text.split(':').next().unwrap_or_default().to_owned()).collect()
    };
    for (name, outcomes) in &found.outcomes {
        let before = kinds(plain.outcomes.get(name));
        if kinds(Some(outcomes)) != before && !before.iter().any(|kind| kind != "skipped") {
            texts.push(format!("{name}: {} (without the hook: {before:?})", outcomes.join(", ")));
        }
    }
    if found.ran != plain.ran {
        texts.push(format!("{} tests ran, {} without the hook", found.ran, plain.ran));
    }
    texts
}

fn outcomes(python: &Interpreter, mode: &str, file: &str) -> Result<Outcomes> {
    let room = tempfile::tempdir()?;
    let mut command = Command::new(&python.executable);
    command.arg(place::root().join("tests").join("transparency").join("run.py")).args([mode, file]);
    command.current_dir(room.path()).env("TMPDIR", room.path()).env_remove("PYTHONPATH").env_remove("PYTHONSAFEPATH");
    let (out, err) = (room.path().join(".stdout"), room.path().join(".stderr"));
    command.stdin(Stdio::null()).stdout(std::fs::File::create(&out)?).stderr(std::fs::File::create(&err)?);
    let mut child = command.spawn().with_context(|| format!("{file} could not be started"))?;
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if start.elapsed() > LIMIT {
            child.kill()?;
            child.wait()?;
            bail!("no end after {} s", LIMIT.as_secs());
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let said = || std::fs::read(&err).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    if !status.success() {
        bail!("ended with {status}: {}", said().lines().rev().take(12).collect::<Vec<_>>().join(" | "));
    }
    let text = std::fs::read_to_string(&out)?;
    serde_json::from_str(text.lines().last().unwrap_or_default())
        .with_context(|| format!("no outcomes printed: {}", said()))
}
