//! `fuzz --targets`: the readers of slotgen on any bytes, by libFuzzer, and code objects that are damaged at random.
use crate::obtain::{Interpreter, interpreter, sources};
use crate::place;
use crate::prove::damaged;
use crate::testing::newest;
use crate::ui::{Advise, Step, table::table};
use crate::wheel;
use anyhow::{Context, Result, anyhow};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Targets of `slotgen/fuzz`, then the one of the runtime.
const TARGETS: [&str; 4] = ["preprocess", "extract", "binary", "codes"];

/// What libFuzzer needs of a build: counters at edges, as its own driver asks for them.
const FLAGS: [&str; 6] = [
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cdebug-assertions=on",
];

/// The most memory that an input may take, in MB.
const MEMORY: u32 = 2048;

/// The longest an input may take, in seconds.
const TIMEOUT: u32 = 20;

/// What came of a target.
#[derive(Debug, Default, Serialize)]
pub struct Found {
    target: &'static str,
    /// Inputs run.
    runs: u64,
    /// Edges and features that were covered at the end; 0 where nothing counts them.
    covered: u64,
    seconds: u64,
    /// Inputs that crash, hang or take too much memory; or what differs.
    bad: Vec<String>,
}

/// Runs targets, each for so many seconds.
pub fn run(names: &[String], seconds: u64, as_json: bool) -> Result<()> {
    if let Some(name) = names.iter().find(|name| !TARGETS.contains(&name.as_str())) {
        return Err(anyhow!("there is no fuzz target `{name}`"))
            .advise(format!("known targets: {}", TARGETS.join(", ")));
    }
    let wanted: Vec<&'static str> =
        TARGETS.into_iter().filter(|target| names.is_empty() || names.iter().any(|name| name == target)).collect();
    let python = interpreter::find(newest(), None)?;
    let programs = if wanted.iter().any(|target| *target != "codes") { Some(build()?) } else { None };
    let mut all = Vec::new();
    for target in wanted {
        all.push(match (target, &programs) {
            ("codes", _) => codes(seconds)?,
            (_, Some(programs)) => one(target, programs, &python, seconds)?,
            (_, None) => continue,
        });
    }
    if as_json {
        anstream::println!("{}", serde_json::to_string_pretty(&all)?);
    } else {
        let row = |found: &Found| {
            let count = |number: u64| number.to_string();
            vec![
                found.target.to_owned(),
                count(found.runs),
                count(found.covered),
                count(found.seconds),
                found.bad.len().to_string(),
            ]
        };
        anstream::println!(
            "{}",
            table(&["target", "inputs", "features", "seconds", "bad"], &all.iter().map(row).collect::<Vec<_>>())
        );
        all.iter().flat_map(|found| &found.bad).for_each(|bad| anstream::println!("  {bad}"));
    }
    let bad: usize = all.iter().map(|found| found.bad.len()).sum();
    if bad == 0 { Ok(()) } else { Err(anyhow!("{bad} inputs are not answered as they should be")) }
        .advise("run the program of the target (target/fuzz-targets) with such an input alone to see why")
}

/// Builds the programs; gives their folder.
fn build() -> Result<PathBuf> {
    let step = Step::start("Building the fuzz targets");
    let room = place::target().join("fuzz-targets");
    let mut cargo = wheel::nested_cargo();
    cargo.args([
        "build",
        "--quiet",
        "--color",
        "never",
        "--release",
        "--bins",
        "--manifest-path",
        "slotgen/fuzz/Cargo.toml",
    ]);
    // With a target named, build scripts and macros are compiled without the counters.
    let triple = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    cargo.args(["--target", &triple]).env("CARGO_TARGET_DIR", &room);
    cargo.env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\u{1f}"));
    crate::run::output(&mut cargo).context("the fuzz targets do not build")?;
    step.done(place::shown(&room));
    Ok(room.join(triple).join("release"))
}

/// Runs one target: from what earlier runs found, and from real files.
fn one(target: &'static str, programs: &Path, python: &Interpreter, seconds: u64) -> Result<Found> {
    let step = Step::start(format!("Fuzzing {target} for {seconds} seconds"));
    let room = place::target().join("fuzz-targets").join(target);
    let (corpus, bad) = (room.join("corpus"), room.join("bad"));
    [&corpus, &bad].into_iter().try_for_each(std::fs::create_dir_all)?;
    let before = inputs(&bad)?;
    let seeds = match target {
        "binary" => python.standard_library.join("lib-dynload"),
        _ => sources::obtain(newest(), None)?.path.join("Objects"),
    };
    let mut command = Command::new(programs.join(target));
    command.arg(&corpus).arg(&seeds);
    command.args([
        format!("-max_total_time={seconds}"),
        format!("-rss_limit_mb={MEMORY}"),
        format!("-timeout={TIMEOUT}"),
    ]);
    command.args(["-max_len=65536", "-print_final_stats=1"]).arg(format!("-artifact_prefix={}/", bad.display()));
    command.env("PYTHON_INCLUDE", &python.include_dir).stdin(Stdio::null());
    let output = command.output().with_context(|| format!("{target} does not start"))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let fresh: Vec<String> = inputs(&bad)?.into_iter().filter(|input| !before.contains(input)).collect();
    let mut found = Found { target, runs: stat(&said, "stat::number_of_executed_units:"), ..Found::default() };
    found.covered = features(&said);
    found.seconds = seconds;
    found.bad = fresh.into_iter().map(|input| format!("{target}: {input}")).collect();
    if !output.status.success() && found.bad.is_empty() {
        let last = said.lines().last().unwrap_or_default();
        return Err(anyhow!("{target} ended with {}: {last}", output.status));
    }
    let text = format!("{} inputs, {} bad", found.runs, found.bad.len());
    if found.bad.is_empty() {
        step.done(text)
    } else {
        step.failed(text)
    };
    Ok(found)
}

/// Damaged code objects of the standard library.
fn codes(seconds: u64) -> Result<Found> {
    let report = damaged(newest(), seconds)?;
    Ok(Found {
        target: "codes",
        runs: report.inputs(),
        covered: 0,
        seconds,
        bad: report.different.iter().map(|text| format!("codes: {text}")).collect(),
    })
}

fn inputs(folder: &Path) -> Result<Vec<String>> {
    let entries = std::fs::read_dir(folder).with_context(|| place::shown(folder))?;
    let mut found: Vec<String> = entries.flatten().map(|entry| place::shown(&entry.path())).collect();
    found.sort();
    Ok(found)
}

/// A number that libFuzzer prints at its end.
fn stat(said: &str, name: &str) -> u64 {
    let line = said.lines().rev().find_map(|line| line.trim().strip_prefix(name));
    line.and_then(|rest| rest.trim().parse().ok()).unwrap_or(0)
}

/// The features of its last line of progress: `#4711 DONE cov: 812 ft: 3204 …`.
fn features(said: &str) -> u64 {
    let line = said.lines().rev().find(|line| line.starts_with('#') && line.contains(" ft: "));
    line.and_then(|line| line.split(" ft: ").nth(1)?.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_libfuzzer_says_is_read() {
        let said = "#2 INITED cov: 10 ft: 11\n#4711\tDONE   cov: 812 ft: 3204 corp: 3/9b\nstat::number_of_executed_units: 4711\n";
        assert_eq!((stat(said, "stat::number_of_executed_units:"), features(said)), (4711, 3204));
        assert_eq!((stat("", "stat::x:"), features("")), (0, 0));
    }

    #[test]
    fn a_target_that_is_not_known_is_told() {
        let error = format!("{:#}", run(&["nonsense".to_owned()], 1, false).unwrap_err());
        assert!(error.contains("nonsense") && error.contains("preprocess"), "{error}");
    }
}
