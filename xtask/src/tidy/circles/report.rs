//! Words what was found: one finding a folder, or every arrow of its circles.
use super::folders::{Circle, folders};
use super::load::load;
use super::modules::Sources;
use super::resolve::{Arrow, arrows};
use crate::tidy::checkout::File;
use crate::tidy::finding::Finding;
use std::fmt::Write as _;

/// The first files of the crates that are read.
const ROOTS: &[&str] = &["runtime/src/lib.rs", "slotgen/src/lib.rs"];

/// Names that a line gives before it says how many there are more.
const NAMES: usize = 4;

/// A finding for each folder that has a circle without a reason.
pub fn check(files: &[File]) -> Vec<Finding> {
    let sources = sources(files);
    let arrows: Vec<Arrow> = ROOTS.iter().flat_map(|root| arrows(&load(root, &sources))).collect();
    let mut findings = Vec::new();
    for (folder, contents) in folders(&arrows) {
        let circles = contents.circles().into_iter().filter(|circle| !is_allowed(folder, circle, &sources));
        if let Some(circle) = circles.min_by_key(|circle| circle.shortest.len()) {
            findings.push(Finding {
                path: folder.to_owned(),
                line: 0,
                rule: "circle",
                message: message(folder, &circle),
            });
        }
    }
    findings
}

/// Every arrow that takes part in a circle, in this folder or in all.
pub fn list(files: &[File], only: Option<&str>) -> String {
    let sources = sources(files);
    let only = only.map(|folder| folder.trim_end_matches('/'));
    let arrows: Vec<Arrow> = ROOTS.iter().flat_map(|root| arrows(&load(root, &sources))).collect();
    let mut text = String::new();
    for (folder, contents) in folders(&arrows) {
        for circle in contents.circles() {
            if only.is_none_or(|only| only == folder) {
                let note = if is_allowed(folder, &circle, &sources) { " (allowed)" } else { "" };
                let entries: Vec<&str> = circle.entries.iter().copied().collect();
                let _ = writeln!(text, "{folder}{note}: {}", entries.join(", "));
                circle.arrows.iter().for_each(|arrow| text.push_str(&line(folder, arrow, usize::MAX)));
            }
        }
    }
    text
}

pub(super) fn sources(files: &[File]) -> Sources<'_> {
    files
        .iter()
        .filter(|file| file.path.ends_with(".rs"))
        .map(|file| (file.path.as_str(), file.text.as_str()))
        .collect()
}

/// A circle of files alone may stand where the folder's module comment says why.
fn is_allowed(folder: &str, circle: &Circle<'_>, sources: &Sources<'_>) -> bool {
    let heads = [format!("{folder}/mod.rs"), format!("{folder}/lib.rs"), format!("{folder}/main.rs")];
    let texts = heads.iter().filter_map(|head| sources.get(head.as_str()));
    let mut lines = texts.flat_map(|text| text.lines()).take_while(|line| line.starts_with("//!"));
    !circle.has_folder()
        && lines.any(|line| line.strip_prefix("//! Circle: ").is_some_and(|reason| !reason.trim().is_empty()))
}

fn message(folder: &str, circle: &Circle<'_>) -> String {
    let lines: String = circle.shortest.iter().map(|arrow| line(folder, arrow, NAMES)).collect();
    let out = if circle.has_folder() {
        "move what both sides need below them, or the file that looks back to the side that it looks at"
    } else {
        "move what both files need below them, or say `//! Circle: <why>` in the folder's `mod.rs`"
    };
    format!(
        "{} entries form a circle; {out} (`cargo xtask tidy --circles {folder}` lists all arrows)\n{}",
        circle.entries.len(),
        lines.trim_end()
    )
}

fn line(folder: &str, arrow: &Arrow, names: usize) -> String {
    let inside = |path: &str| path.get(folder.len()..).unwrap_or(path).trim_start_matches('/').to_owned();
    let first = arrow.names.values().min().copied().unwrap_or_default();
    let mut taken: Vec<String> = arrow.names.keys().take(names).cloned().collect();
    if let Some(more) = arrow.names.len().checked_sub(names).filter(|more| *more > 0) {
        taken.push(format!("{more} more"));
    }
    format!("  {}:{first} -> {}: {}\n", inside(&arrow.from), inside(&arrow.to), taken.join(", "))
}
