//! `test --cpython`: runs CPython's own tests with compiled bodies, no graph break allowed, and compares with plain runs.
use super::dashboard::{self, FileResult, Row, Run};
use crate::obtain::{Interpreter, venv};
use crate::ui::table::table;
use crate::ui::{Step, paint};
use crate::wheel::Profile;
use crate::{develop, place};
use anyhow::{Context, Result, anyhow, bail};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many reasons for graph breaks a report lists.
const REASONS: usize = 25;

type Results = BTreeMap<String, FileResult>;

/// Runs the files (all of `tests/cpython/files.txt` where none is named) and reports.
/// With a folder, the run is added to the dashboard there.
pub fn run(base: &Interpreter, files: &[String], into: Option<&Path>, as_json: bool) -> Result<()> {
    let python = venv::ensure(base)?;
    develop::install(&python, Profile::Release)?;
    let files = if files.is_empty() { standard() } else { files.iter().map(|file| module(file)).collect() };
    let step = Step::items(format!("CPython's tests, CPython {}", base.full_version()), files.len() as u64);
    let results = pairwise(&files, &step, |file| one(&python, file))?;
    step.done(format!("{} files", results.len()));
    if let Some(folder) = into {
        dashboard::write(folder, &Run::new(&base.full_version(), results.clone()))?;
    }
    if as_json {
        let files: BTreeMap<_, _> = results.iter().map(|(file, result)| (file, &result.rows)).collect();
        anstream::println!("{:#}", json!(files));
    } else {
        anstream::println!("{}", report(&results));
    }
    let trouble = results.iter().filter_map(|(file, result)| Some(format!("{file}: {}", result.trouble.as_ref()?)));
    let trouble: Vec<String> = trouble.collect();
    let rows = || results.values().flat_map(|result| &result.rows);
    let failed = rows().filter(|row| !["passed", "break"].contains(&row.verdict.as_str())).count() + trouble.len();
    let passed = rows().filter(|row| row.verdict == "passed").count();
    let broken = rows().filter(|row| row.verdict == "break").count();
    anstream::println!("{passed} passed, {failed} failed, {broken} skipped");
    if failed == 0 {
        return Ok(());
    }
    let trouble = if trouble.is_empty() { String::new() } else { format!(": {}", trouble.join("; ")) };
    bail!("{failed} tests end otherwise than uncompiled{trouble}")
}

/// The files by which the tracer is measured.
fn standard() -> Vec<String> {
    let lines = include_str!("../../../tests/cpython/files.txt").lines();
    lines.filter(|line| !line.starts_with('#') && !line.is_empty()).map(str::to_owned).collect()
}

/// `dict`, `test_dict` and `unittest/test_assertions` as modules of the package `test`.
pub fn module(name: &str) -> String {
    let name = name.trim_end_matches(".py").replace('/', ".");
    let name = name.strip_prefix("unittest.").map_or(name.clone(), |rest| format!("test_unittest.{rest}"));
    if name.starts_with("test_") { name } else { format!("test_{name}") }
}

/// Work on the files, two at a time.
fn pairwise<T: Send>(
    files: &[String],
    step: &Step,
    one: impl Fn(&str) -> Result<T> + Sync,
) -> Result<BTreeMap<String, T>> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(BTreeMap::new());
    let work = || -> Result<()> {
        while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            step.at(file);
            let result = one(file)?;
            results.lock().map_err(|_| anyhow!("a worker ended early"))?.insert(file.clone(), result);
            step.advance(1);
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..2).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().unwrap_or_else(|_| bail!("a worker ended early")))
    })?;
    results.into_inner().map_err(|_| anyhow!("a worker ended early"))
}

fn one(python: &Interpreter, file: &str) -> Result<FileResult> {
    let mut command = Command::new(&python.executable);
    command.arg(place::root().join("tests").join("cpython").join("run.py")).arg(file);
    command.env("PYTHONDONTWRITEBYTECODE", "1").env_remove("PYTHONPATH");
    let room = tempfile::tempdir()?;
    command.env("TMPDIR", room.path()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().with_context(|| format!("{file} could not be started"))?;
    let mut result = FileResult::default();
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let said = std::thread::spawn(move || {
        stderr.map(BufReader::new).into_iter().flat_map(|lines| lines.lines()).flatten().last()
    });
    for line in stdout.map(BufReader::new).into_iter().flat_map(|lines| lines.lines()) {
        match serde_json::from_str(&line?) {
            Ok(row) => result.rows.push(row),
            Err(error) => result.trouble = Some(format!("the runner printed no row: {error}")),
        }
    }
    let said = said.join().ok().flatten().unwrap_or_default();
    let status = child.wait()?;
    if !status.success() {
        result.trouble = Some(format!("the runner ended with {status}: {said}"));
    }
    Ok(result)
}

fn report(results: &Results) -> String {
    let verdicts = dashboard::VERDICTS;
    let count = |rows: &[&Row], verdict: &str| rows.iter().filter(|row| row.verdict == verdict).count();
    let line = |name: &str, rows: &[&Row]| {
        let mut cells = vec![name.to_owned(), rows.len().to_string()];
        cells.extend(verdicts.iter().map(|verdict| count(rows, verdict).to_string()));
        let share = 100.0 * count(rows, "passed") as f64 / rows.len().max(1) as f64;
        cells.extend([format!("{share:.0} %"), format!("{:.2}", median(rows))]);
        cells
    };
    let mut lines: Vec<_> =
        results.iter().map(|(file, result)| line(file, &result.rows.iter().collect::<Vec<_>>())).collect();
    let all: Vec<&Row> = results.values().flat_map(|result| &result.rows).collect();
    lines.push(line("all", &all));
    let headings = ["file", "tests", "passed", "break", "wrong", "timeout", "crash", "share", "median ms"];
    let mut text = table(&headings, &lines);
    text.push_str(&format!("\n\n{}\n{}", paint::bold("Graph breaks by reason"), reasons(&all)));
    for row in all.iter().filter(|row| !["passed", "break"].contains(&row.verdict.as_str())) {
        text.push_str(&format!("\n{} {}: {}", paint::red(&row.verdict), row.test, row.reason));
    }
    text
}

/// The most frequent reasons, most frequent first.
fn reasons(rows: &[&Row]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.verdict == "break") {
        *counts.entry(&row.reason).or_default() += 1;
    }
    let mut sorted: Vec<_> = counts.into_iter().collect();
    sorted.sort_by_key(|(reason, count)| (std::cmp::Reverse(*count), *reason));
    let lines = sorted.iter().take(REASONS).map(|(reason, count)| format!("  {count:>5}  {reason}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The middle of the times of the tests that passed.
fn median(rows: &[&Row]) -> f64 {
    let mut times: Vec<f64> = rows.iter().filter(|row| row.verdict == "passed").map(|row| row.ms).collect();
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_may_be_named_as_people_do() {
        assert_eq!(module("dict"), "test_dict");
        assert_eq!(module("test_dict.py"), "test_dict");
        assert_eq!(module("unittest/test_assertions"), "test_unittest.test_assertions");
        assert_eq!(standard().len(), 48);
    }
}
