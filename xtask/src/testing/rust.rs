//! Rust tests: `cargo test` over the workspace, and over the runtime on the oldest and the newest interpreter.
use super::described;
use super::tally::Tally;
use crate::obtain::{Interpreter, sources};
use crate::ui::{Step, step};
use crate::wheel;
use crate::{place, regen, run};
use anyhow::{Context, Result};
use rayon::prelude::*;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// Runs the tests of all crates.
pub fn run(interpreters: &[Interpreter], filter: Option<&str>) -> Result<Tally> {
    // Tests that read CPython's sources look where this puts them.
    for series in regen::committed()? {
        sources::obtain(&series, None)?;
    }
    let mut workspace = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    workspace.current_dir(place::root()).args(["test", "--workspace", "--exclude", "slotrt"]);
    let mut tally = cargo_test("Rust tests", workspace, filter)?;
    // Each release has a folder of its own for what is built: they do not wait for one another.
    let newest = interpreters.last().map(Interpreter::series);
    let of_runtime = ends(interpreters).map(|python| {
        let parts: &[&str] = if newest.as_ref() == Some(&python.series()) { &[] } else { &["--lib"] };
        test_runtime(python, parts, filter)
    });
    let of_runtime: Result<Vec<Tally>> = of_runtime.collect();
    of_runtime?.into_iter().for_each(|counts| tally.add(counts));
    if filter.is_none() {
        tally.add(described::check()?);
    }
    Ok(tally)
}

/// The oldest and the newest: what these tests look at changes from release to release in tables, which the Python tests of every release
/// go through.
fn ends(interpreters: &[Interpreter]) -> impl ParallelIterator<Item = &Interpreter> {
    let last = interpreters.len().saturating_sub(1);
    interpreters.par_iter().enumerate().filter(move |(at, _)| *at == 0 || *at == last).map(|(_, python)| python)
}

/// A crate that links the runtime is a part of its own: on one release it is enough, and the library is not built a second time on the other.
fn test_runtime(python: &Interpreter, parts: &[&str], filter: Option<&str>) -> Result<Tally> {
    let mut runtime = wheel::cargo(python);
    runtime.args(["test", "--package", "slotrt"]).args(parts);
    cargo_test(&format!("Rust tests of the runtime, CPython {}", python.full_version()), runtime, filter)
}

fn cargo_test(name: &str, mut command: Command, filter: Option<&str>) -> Result<Tally> {
    command.args(["--no-fail-fast", "--color", "never"]).args(filter);
    let step = Step::start(name);
    let line = run::line(&command);
    // Standard error of cargo and of the tests joins standard output, so that a failure reads in order.
    let (reader, writer) = std::io::pipe()?;
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn().with_context(|| format!("`{line}` could not be started"))?;
    drop(command);
    let mut lines = Vec::new();
    for text in BufReader::new(reader).lines() {
        let text = text?;
        step.at(text.trim().chars().take(70).collect::<String>());
        lines.push(text);
    }
    let status = child.wait()?;
    let mut tally = count(&lines);
    if !status.success() && tally.failed.is_empty() {
        tally.failed.push(format!("{name}: `{line}` ended with {status}"));
    }
    if tally.failed.is_empty() {
        step.done(tally.summary());
    } else {
        step.failed(tally.summary());
        step::suspended(|| {
            lines.iter().filter(|line| !is_passing(line)).for_each(|line| anstream::eprintln!("    {line}"))
        });
    }
    Ok(tally)
}

/// Lines that say nothing about a failure.
fn is_passing(line: &str) -> bool {
    (line.starts_with("test ") && line.ends_with(" ... ok"))
        || line.trim_start().starts_with("Compiling ")
        || line.is_empty()
}

/// Counts from libtest's lines: `test a::b ... ok`, `test a::b ... ignored, why`.
fn count(lines: &[String]) -> Tally {
    let mut tally = Tally::default();
    for line in lines.iter().filter_map(|line| line.strip_prefix("test ")) {
        let Some((name, verdict)) = line.rsplit_once(" ... ") else { continue };
        match verdict.split(',').next().unwrap_or_default() {
            "ok" => tally.passed += 1,
            "ignored" => {
                let why = verdict.split_once(", ").map_or("ignored without a reason", |(_, why)| why);
                tally.skip(name.to_owned(), why.to_owned());
            }
            "FAILED" => tally.failed.push(name.to_owned()),
            _ => {}
        }
    }
    tally
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_counted() {
        let text = "running 4 tests\ntest a::b ... ok\ntest c ... FAILED\ntest d ... ignored, needs a network\ntest src/x.rs - y (line 3) ... ok\ntest result: FAILED. 2 passed; 1 failed";
        let tally = count(&text.lines().map(str::to_owned).collect::<Vec<_>>());
        assert_eq!((tally.passed, tally.failed, tally.skipped.len()), (2, vec!["c".to_owned()], 1));
    }
}
