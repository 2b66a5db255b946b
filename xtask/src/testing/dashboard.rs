//! CPython's tests as a dashboard: JSON of each run, and one HTML page of all releases in a folder.
use crate::place;
use anyhow::{Context, Result};
use askama::Template;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The schema of the JSON.
const SCHEMA: &str = "slotrt-cpython-tests-1";

/// Verdicts, best first.
pub const VERDICTS: [&str; 5] = ["passed", "break", "wrong", "timeout", "crash"];

/// One test that passes uncompiled.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Row {
    /// `Class.method` behind the module's name.
    pub test: String,
    /// One of `VERDICTS`.
    pub verdict: String,
    /// Why not passed.
    pub reason: String,
    /// Milliseconds that the body took, compilation included.
    pub ms: f64,
    /// The same uncompiled.
    pub plain_ms: f64,
}

/// The tests of one file, and what the runner said when it ended early.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct FileResult {
    /// Its tests.
    pub rows: Vec<Row>,
    /// What went wrong with the file as a whole.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub trouble: Option<String>,
}

/// A run.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Run {
    /// The schema.
    pub schema: String,
    /// `3.13.0`.
    pub version: String,
    /// By file.
    pub files: BTreeMap<String, FileResult>,
}

impl Run {
    /// A run of this version.
    pub fn new(version: &str, files: BTreeMap<String, FileResult>) -> Self {
        Self { schema: SCHEMA.to_owned(), version: version.to_owned(), files }
    }

    fn series(&self) -> String {
        self.version.split('.').take(2).collect::<Vec<_>>().join(".")
    }

    fn rows(&self) -> impl Iterator<Item = &Row> {
        self.files.values().flat_map(|file| &file.rows)
    }

    fn counts(&self) -> Vec<usize> {
        VERDICTS.iter().map(|verdict| self.rows().filter(|row| row.verdict == *verdict).count()).collect()
    }
}

/// Writes the run into a folder, keeps the run before beside it, and draws the page of all runs there.
pub fn write(folder: &Path, run: &Run) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let path = folder.join(format!("cpython-{}.json", run.series()));
    if path.exists() {
        std::fs::rename(&path, folder.join(format!("cpython-{}.before.json", run.series())))?;
    }
    std::fs::write(&path, serde_json::to_vec_pretty(run)?).with_context(|| path.display().to_string())?;
    let page = folder.join("index.html");
    std::fs::write(&page, render(folder)?).with_context(|| page.display().to_string())?;
    crate::ui::note(format!("{} and {}", place::shown(&page), place::shown(&path)));
    Ok(())
}

/// A run that was written before; a file that is none is named and left out.
fn read(path: &Path) -> Option<Run> {
    let text = std::fs::read_to_string(path).ok()?;
    match serde_json::from_str::<Run>(&text) {
        Ok(run) if run.schema == SCHEMA => Some(run),
        _ => {
            crate::ui::note(format!("{} is no run of CPython's tests: it is left out", path.display()));
            None
        }
    }
}

/// The page; texts of tests are escaped.
#[derive(Template)]
#[template(path = "cpython.html", escape = "html")]
struct Page<'a> {
    style: &'a str,
    verdicts: [&'a str; 5],
    runs: Vec<Shown>,
    /// Files, with the counts of each run.
    files: Vec<(String, Vec<String>)>,
}

/// A run as the page shows it.
struct Shown {
    version: String,
    counts: Vec<usize>,
    seconds: String,
    /// Reasons of breaks, most tests first, with the tests.
    reasons: Vec<(usize, String, String)>,
    /// Tests that end otherwise than uncompiled: file, test, verdict, reason.
    wrong: Vec<[String; 4]>,
    /// What changed since the run before: test, before, now.
    changes: Vec<[String; 3]>,
    has_before: bool,
    /// Every test by file.
    files: Vec<(String, FileResult)>,
}

fn render(folder: &Path) -> Result<String> {
    let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    let is_run = |path: &std::path::PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        name.starts_with("cpython-") && name.ends_with(".json") && !name.contains(".before.")
    };
    paths.retain(is_run);
    let mut runs: Vec<(Run, Option<Run>)> =
        paths.iter().filter_map(|path| Some((read(path)?, read(&path.with_extension("before.json"))))).collect();
    runs.sort_by_key(|(run, _)| run.version.split('.').filter_map(|part| part.parse::<u32>().ok()).collect::<Vec<_>>());
    let names: BTreeSet<&String> = runs.iter().flat_map(|(run, _)| run.files.keys()).collect();
    let cell = |run: &Run, name: &str| match run.files.get(name) {
        None => "–".to_owned(),
        Some(file) => {
            let passed = file.rows.iter().filter(|row| row.verdict == "passed").count();
            let trouble = if file.trouble.is_some() { ", ended early" } else { "" };
            format!("{passed} of {}{trouble}", file.rows.len())
        }
    };
    let files = names.into_iter().map(|name| (name.clone(), runs.iter().map(|(run, _)| cell(run, name)).collect()));
    let page = Page {
        style: include_str!("../../templates/audit.css"),
        verdicts: VERDICTS,
        files: files.collect(),
        runs: runs.iter().map(|(run, before)| shown(run, before.as_ref())).collect(),
    };
    page.render().context("the page cannot be rendered")
}

fn shown(run: &Run, before: Option<&Run>) -> Shown {
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    run.rows()
        .filter(|row| row.verdict == "break")
        .for_each(|row| reasons.entry(&row.reason).or_default().push(&row.test));
    let mut reasons: Vec<(usize, String, String)> =
        reasons.into_iter().map(|(reason, tests)| (tests.len(), reason.to_owned(), tests.join(", "))).collect();
    reasons.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let mut wrong = Vec::new();
    for (name, file) in &run.files {
        let bad = file.rows.iter().filter(|row| !["passed", "break"].contains(&row.verdict.as_str()));
        wrong.extend(bad.map(|row| [name.clone(), row.test.clone(), row.verdict.clone(), row.reason.clone()]));
        wrong.extend(
            file.trouble.iter().map(|why| [name.clone(), String::new(), "ended early".to_owned(), why.clone()]),
        );
    }
    Shown {
        version: run.version.clone(),
        counts: run.counts(),
        seconds: format!("{:.1}", run.rows().map(|row| row.ms).sum::<f64>() / 1000.0),
        reasons,
        wrong,
        changes: before.map(|before| changes(before, run)).unwrap_or_default(),
        has_before: before.is_some(),
        files: run.files.iter().map(|(name, file)| (name.clone(), file.clone())).collect(),
    }
}

/// Tests whose verdict changed, came or went, of the files that both runs have.
fn changes(before: &Run, now: &Run) -> Vec<[String; 3]> {
    let in_both = |name: &String| before.files.contains_key(name) && now.files.contains_key(name);
    let verdicts = |run: &Run| -> BTreeMap<String, String> {
        let files = run.files.iter().filter(|(name, _)| in_both(name));
        files
            .flat_map(|(file, all)| {
                all.rows.iter().map(move |row| (format!("{file} {}", row.test), row.verdict.clone()))
            })
            .collect()
    };
    let (old, new) = (verdicts(before), verdicts(now));
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let word =
        |all: &BTreeMap<String, String>, name: &String| all.get(name).cloned().unwrap_or_else(|| "not run".to_owned());
    let changed = names.into_iter().filter(|name| old.get(*name) != new.get(*name));
    changed.map(|name| [name.clone(), word(&old, name), word(&new, name)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(version: &str, verdict: &str) -> Run {
        let row = |test: &str, verdict: &str, reason: &str| Row {
            test: test.to_owned(),
            verdict: verdict.to_owned(),
            reason: reason.to_owned(),
            ms: 1.0,
            plain_ms: 0.5,
        };
        let rows =
            vec![row("A.one", verdict, "<b>why</b>"), row("A.two", "break", "input"), row("A.three", "break", "input")];
        Run::new(version, BTreeMap::from([("test_a".to_owned(), FileResult { rows, trouble: None })]))
    }

    #[test]
    fn runs_stand_side_by_side_with_reasons_and_changes_and_texts_are_escaped() {
        let room = tempfile::tempdir().unwrap();
        write(room.path(), &run("3.13.0", "passed")).unwrap();
        write(room.path(), &run("3.12.1", "wrong")).unwrap();
        write(room.path(), &run("3.13.0", "wrong")).unwrap();
        std::fs::write(room.path().join("cpython-bad.json"), "{").unwrap();
        let page = std::fs::read_to_string(room.path().join("index.html")).unwrap();
        assert!(page.contains("3.12.1") && page.contains("3.13.0"));
        assert!(!page.contains("<b>why") && page.contains("why"));
        assert!(page.contains("test_a A.one"), "the change is named");
        let found = shown(&run("3.13.0", "wrong"), Some(&run("3.13.0", "passed")));
        assert_eq!(found.reasons[0].0, 2);
        assert_eq!(found.changes, [["test_a A.one".to_owned(), "passed".to_owned(), "wrong".to_owned()]]);
        assert_eq!(found.wrong.len(), 1);
        let fewer = Run::new("3.13.0", BTreeMap::from([("test_b".to_owned(), FileResult::default())]));
        assert!(changes(&run("3.13.0", "passed"), &fewer).is_empty(), "a file that is not run again has not changed");
    }
}
