//! `audit --dynamo`: TorchDynamo's copy of CPython against CPython.
//!
//! In: a folder of TorchDynamo's sources, facts, indices of C sources. Out: `Audit` with its findings. Nothing of PyTorch is run, but with `--import`.
mod audited;
mod live;
mod python;
mod references;
mod render;
mod slotdefs;
mod trackers;

pub use render::{markdown, text};

use super::findings::{Finding, Severity};
use super::history;
use super::index::{self, Index};
use crate::place;
use crate::ui::{self, Advise, Step};
use anyhow::{Context, Result, anyhow};
use audited::{Audited, at};
use serde::Serialize;
use slotgen::source::pins;
use std::path::{Path, PathBuf};

/// What was found.
#[derive(Debug, Serialize)]
pub struct Audit {
    /// `2.15.0`, or `a checkout`.
    pub torch: String,
    /// The CPython release.
    pub release: String,
    /// The releases that references are checked against.
    pub checked: Vec<String>,
    /// Files read.
    pub files: usize,
    /// Files that do not parse, with the line; what could be read of them counts.
    pub unread: Vec<(String, u32)>,
    /// The table of slot definitions.
    pub slotdefs: Vec<slotdefs::Compared>,
    /// Types that trackers name.
    pub trackers: Vec<trackers::Tracked>,
    /// References in comments.
    pub references: Vec<references::Reference>,
    /// What the live PyTorch said, if it was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live: Option<live::Answers>,
    /// What to do, worst first.
    pub findings: Vec<Finding>,
}

/// Audits a folder: `torch`, one that holds it, or `_dynamo` itself.
pub fn audit(path: &Path, series: &str, import: bool) -> Result<Audit> {
    let torch = folder(path)?;
    let (sources, files) = read(&torch)?;
    let facts = slotgen::committed(&place::root().join("generated"), series)?;
    let audited = Audited::new(&facts, "torch/_dynamo/variables/base.py".to_owned());
    let mut findings = Vec::new();
    for (path, line) in &sources.unread {
        let message = format!("Line {line} is not understood.");
        let advice = "Only the rest of the file is audited.";
        findings.push(audited.finding("not-parsed", Severity::Note, message, advice, at(path, *line)));
    }
    let slotdefs = slotdefs::compare(&sources, &audited, &mut findings);
    let trackers = trackers::compare(&sources, series, &audited, &mut findings).unwrap_or_else(|error| {
        ui::note(format!("trackers are not compared: {error:#}"));
        Vec::new()
    });
    let indices = indices();
    let references = references::check(&sources, &indices, &history::committed()?, &audited, &mut findings);
    let live = if import { Some(live::compare(&torch, &audited, &mut findings)?) } else { None };
    findings.sort_by(|a, b| {
        (b.severity, &a.rule, &a.path, a.line, &a.subject).cmp(&(a.severity, &b.rule, &b.path, b.line, &b.subject))
    });
    findings.dedup();
    Ok(Audit {
        torch: version(&torch),
        release: facts.release.clone(),
        checked: indices.into_iter().map(|index| index.release).collect(),
        files,
        unread: sources.unread,
        slotdefs,
        trackers,
        references,
        live,
        findings,
    })
}

/// The folder `torch`.
fn folder(path: &Path) -> Result<PathBuf> {
    let candidates = [path.to_owned(), path.join("torch"), path.parent().map_or_else(PathBuf::new, Path::to_owned)];
    let found = candidates.into_iter().find(|folder| folder.join("_dynamo").join("variables").is_dir());
    found
        .ok_or_else(|| anyhow!("{} has no torch/_dynamo/variables", path.display()))
        .advise("pass the folder of an installed PyTorch (`.../site-packages/torch`) or of a checkout")
}

fn read(torch: &Path) -> Result<(python::Sources, usize)> {
    let mut paths = Vec::new();
    collect(&torch.join("_dynamo"), &mut paths)?;
    let step = Step::start("Reading TorchDynamo");
    let mut sources = python::Sources::default();
    for path in &paths {
        let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
        let name = Path::new("torch").join(path.strip_prefix(torch).unwrap_or(path));
        sources.add(&name.display().to_string(), &String::from_utf8_lossy(&bytes))?;
    }
    step.done(format!("{} files, {} classes", paths.len(), sources.classes.len()));
    Ok((sources, paths.len()))
}

/// Every file of Python, in order.
fn collect(folder: &Path, paths: &mut Vec<PathBuf>) -> Result<()> {
    let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut entries: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            collect(&path, paths)?;
        } else if path.extension().is_some_and(|extension| extension == "py") {
            paths.push(path);
        }
    }
    Ok(())
}

/// `__version__` of an installed PyTorch.
fn version(torch: &Path) -> String {
    let text = std::fs::read_to_string(torch.join("version.py")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("__version__ = "));
    line.map_or_else(|| "a checkout".to_owned(), |version| version.trim_matches(['\'', '"']).to_owned())
}

/// The pinned releases that TorchDynamo supports and whose sources can be had, oldest first.
fn indices() -> Vec<Index> {
    let minor = |release: &str| release.split('.').nth(1).and_then(|minor| minor.parse::<u32>().ok()).unwrap_or(0);
    let mut found = Vec::new();
    for pin in pins().iter().filter(|pin| minor(&pin.release) >= 10) {
        match index::of(&pin.release) {
            Ok(index) => found.push(index),
            Err(error) => ui::note(format!("references are not checked against CPython {}: {error:#}", pin.release)),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = r#"
class VariableTracker:
    def nb_or_impl(self, tx): pass
class PyNumberMethods(NamedTuple):
    nb_or: Slot | None
_SLOTDEFS = [
    NBSLOT("__or__", "nb_or_impl", PyNumberSlots.NB_OR, _wrap_unaryfunc),
    NBSLOT("__nonsense__", "nb_or_impl", PyNumberSlots.NB_OR, _wrap_binaryfunc_l),
    SQSLOT("__add__", "sq_concat_impl", PySequenceSlots.SQ_CONCAT, _wrap_binaryfunc),
    NBSLOT("__add__", "nb_add_impl", PyNumberSlots.NB_ADD, _wrap_binaryfunc_l),
]
"#;
    const DICTS: &str = r#"
class DictVariable(VariableTracker):
    _cpython_type = dict
    tp_methods = {"get": Method(get), "nonsense": Method(get)}
    def nb_and_impl(self, tx, other): pass
class Other(VariableTracker):
    _cpython_type = torch.Size
"#;

    /// A folder `torch` with these files below `_dynamo/variables`.
    fn torch(files: &[(&str, &str)]) -> tempfile::TempDir {
        let room = tempfile::tempdir().unwrap();
        let folder = room.path().join("torch/_dynamo/variables");
        std::fs::create_dir_all(&folder).unwrap();
        files.iter().for_each(|(name, text)| std::fs::write(folder.join(name), text).unwrap());
        room
    }

    #[test]
    fn each_difference_is_a_finding_and_damaged_files_do_not_stop_it() {
        let room = torch(&[("base.py", BASE), ("dicts.py", DICTS), ("damaged.py", "def f(:\n")]);
        let found = audit(&room.path().join("torch"), "3.13", false).unwrap();
        let has =
            |rule: &str, text: &str| found.findings.iter().any(|one| one.rule == rule && one.message.contains(text));
        assert!(has("slotdef-missing", "__rsub__"), "{:?}", found.findings);
        assert!(has("slotdef-extra", "__nonsense__"));
        assert!(has("slotdef-wrapper", "wrap_unaryfunc"));
        assert!(has("slotdef-order", "__add__ in nb_add"));
        assert!(has("slotdef-signature", "nb_or_impl needs 0"));
        assert!(has("slotdef-method", "nb_add_impl"));
        assert!(has("not-parsed", "Line 1"));
        if !found.trackers.is_empty() {
            assert_eq!(found.trackers.len(), 1, "a type of PyTorch is none of CPython");
            assert!(has("slot-body-missing", "dict.nb_or with dict_or"));
            assert!(has("slot-body-extra", "nb_and_impl"));
            assert!(has("table-row-missing", "dict.popitem"));
            assert!(has("table-row-extra", "dict.nonsense"));
        }
        assert!(found.findings.is_sorted_by_key(|one| std::cmp::Reverse(one.severity)));
    }

    #[test]
    fn a_checkout_is_found_from_above_and_an_empty_folder_is_refused() {
        let room = torch(&[("base.py", "x = 1\n")]);
        assert!(folder(room.path()).is_ok() && folder(&room.path().join("torch/_dynamo")).is_ok());
        let empty = tempfile::tempdir().unwrap();
        assert!(audit(empty.path(), "3.13", false).is_err());
        let found = audit(room.path(), "3.13", false).unwrap();
        assert!(found.findings.iter().any(|one| one.rule == "slotdefs-absent" && one.severity == Severity::Error));
    }
}
