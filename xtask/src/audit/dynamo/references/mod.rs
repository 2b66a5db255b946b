//! References to CPython in comments: does the place still hold what the comment names, in each release at hand?
mod citations;
mod meaning;
mod names;
mod verdict;

use super::audited::{Audited, at};
use super::python::Sources;
use crate::audit::findings::{Finding, Severity};
use crate::audit::history::History;
use crate::audit::index::Index;
use citations::citations;
use meaning::Meaning;
use names::{Places, names};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use verdict::verdict;

pub use verdict::Verdict;

/// A reference.
#[derive(Clone, Debug, Serialize)]
pub struct Reference {
    /// The file of the comment.
    pub path: String,
    /// The line of the comment.
    pub line: u32,
    /// The branch, tag or commit cited; none if there is no link.
    pub cited: Option<String>,
    /// The C file.
    pub file: String,
    /// The lines cited.
    pub lines: Option<(u32, u32)>,
    /// The functions, types and macros that the comment names for it.
    pub names: Vec<String>,
    /// By release; of several names the worst.
    pub verdicts: BTreeMap<String, Verdict>,
    /// Whether the cited function means the same in the release cited and in the one audited.
    pub meaning: Meaning,
}

/// Every reference, checked against the releases, oldest first; the last one of the series audited says what is stale.
pub fn check(
    sources: &Sources,
    indices: &[Index],
    history: &History,
    audited: &Audited<'_>,
    findings: &mut Vec<Finding>,
) -> Vec<Reference> {
    let known: BTreeSet<&str> =
        indices.iter().flat_map(|index| &index.entries).map(|entry| entry.name.as_str()).collect();
    let files: BTreeSet<&str> = indices.iter().flat_map(|index| &index.files).map(String::as_str).collect();
    let places = Places::of(indices);
    let newest = newest(indices, audited).map_or(audited.facts.release.as_str(), |index| index.release.as_str());
    let mut references = Vec::new();
    for remark in &sources.remarks {
        for (number, text) in remark.lines.iter().enumerate() {
            for cited in citations(text) {
                if !files.contains(cited.file) && cited.reference.is_none() {
                    continue;
                }
                let names = names(remark, number, &cited, &known, &places);
                if names.is_empty() && cited.lines.is_none() {
                    continue;
                }
                let line = remark.line + u32::try_from(number).unwrap_or(0);
                let verdicts =
                    indices.iter().map(|index| (index.release.clone(), verdict(index, &cited, &names))).collect();
                let reference = Reference {
                    path: remark.path.clone(),
                    line,
                    cited: cited.reference.map(str::to_owned),
                    file: cited.file.to_owned(),
                    lines: cited.lines,
                    meaning: Meaning::of(&cited, &names, history, newest),
                    names,
                    verdicts,
                };
                findings.extend(finding(&reference, indices, audited));
                findings.extend(otherwise(&reference, indices, audited));
                references.push(reference);
            }
        }
    }
    references
}

/// The newest release of the series that is audited, among those at hand.
fn newest<'i>(indices: &'i [Index], audited: &Audited<'_>) -> Option<&'i Index> {
    let series = format!("{}.", crate::obtain::releases::series_of(&audited.facts.release));
    indices.iter().rev().find(|index| index.release.starts_with(&series)).or(indices.last())
}

/// Whether a citation goes on to mean the same text: a tag or a commit does, a branch or a bare path does not.
fn is_pinned(reference: Option<&str>) -> bool {
    let commit = |name: &str| name.len() >= 7 && name.chars().all(|c| c.is_ascii_hexdigit());
    reference.is_some_and(|name| name.starts_with('v') && name.contains('.') || commit(name))
}

/// The finding that a cited function means something else today.
fn otherwise(reference: &Reference, indices: &[Index], audited: &Audited<'_>) -> Option<Finding> {
    let meaning = &reference.meaning;
    let from = meaning.from.as_ref().filter(|_| meaning.is_other)?;
    let name = reference.names.first()?;
    let message = format!("{name}, which is cited, has {}.", meaning.said);
    let advice = format!(
        "`cargo xtask explain {name}` has its history, `cargo xtask diff {from} {} --by-meaning` the changes; compare the copy with it.",
        meaning.to
    );
    let place = at(&reference.path, reference.line);
    let mut found = audited.finding("reference-meaning", Severity::Warning, message, &advice, place);
    found.function = Some(name.clone());
    found.release.clone_from(&meaning.to);
    found.subject.clone_from(name);
    let entry =
        indices.iter().find(|index| index.release == meaning.to).and_then(|index| index.find(name, &reference.file));
    found.c_place = entry.map(|entry| format!("{}:{}", entry.file, entry.line));
    found.digest = entry.map(|entry| entry.digest.clone());
    Some(found)
}

fn finding(reference: &Reference, indices: &[Index], audited: &Audited<'_>) -> Option<Finding> {
    let cited = reference.cited.as_deref();
    // A branch of another series is judged by that series; all else by the newest release of the one audited.
    let newest = || newest(indices, audited);
    let index = match cited {
        Some(name) if !is_pinned(cited) => indices
            .iter()
            .rev()
            .find(|index| index.release.starts_with(&format!("{name}.")))
            .or_else(|| newest().filter(|_| name == "main"))?,
        _ => newest()?,
    };
    let severity = if is_pinned(cited) { Severity::Note } else { Severity::Warning };
    let shown = match reference.lines {
        Some((start, end)) if start == end => format!("{}#L{start}", reference.file),
        Some((start, end)) => format!("{}#L{start}-L{end}", reference.file),
        None => reference.file.clone(),
    };
    let name = reference.names.first().map_or("", String::as_str);
    let release = &index.release;
    let (rule, severity, message, advice) = match reference.verdicts.get(release)? {
        Verdict::Holds | Verdict::Unnamed { .. } => return None,
        Verdict::Moved { line, end } => (
            "reference-stale",
            severity,
            format!("{shown} does not hold {name} in CPython {release}: it is at L{line}-L{end}."),
            format!("Cite v{release} and {}#L{line}-L{end}.", reference.file),
        ),
        Verdict::Elsewhere { file, line, end } => (
            "reference-moved",
            severity.max(if cited.is_none() { Severity::Warning } else { Severity::Note }),
            format!("{} has no {name} in CPython {release}: it is in {file} at L{line}-L{end}.", reference.file),
            format!("Cite v{release} and {file}#L{line}-L{end}."),
        ),
        Verdict::Gone => (
            "reference-gone",
            Severity::Warning.max(severity),
            format!("CPython {release} has no {name}, which {shown} is cited for."),
            took_its_place(index, name, &reference.file),
        ),
    };
    let mut found = audited.finding(rule, severity, message, &advice, at(&reference.path, reference.line));
    let entry = index.find(name, &reference.file).filter(|_| rule != "reference-gone");
    found.function = Some(name.to_owned());
    found.c_place = entry.map(|entry| format!("{}:{}", entry.file, entry.line));
    found.digest = entry.map(|entry| entry.digest.clone()).filter(|digest| !digest.is_empty());
    found.release.clone_from(release);
    found.subject = format!("{name} {shown}");
    Some(found)
}

/// What to do where a function is gone: the ones that most likely took its place.
fn took_its_place(index: &Index, name: &str, file: &str) -> String {
    let found: Vec<String> = index
        .successors(name, file)
        .iter()
        .map(|entry| format!("{} ({}#L{}-L{})", entry.name, entry.file, entry.line, entry.end))
        .collect();
    match found.is_empty() {
        true => "Find what took its place (`cargo xtask diff`), and mirror that.".to_owned(),
        false => format!("By its name {} took its place: compare with that, and cite it.", found.join(" or ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::index::Entry;

    fn index(release: &str, entries: &[(&str, &str, u32, u32)]) -> Index {
        let entry = |(name, file, line, end): &(&str, &str, u32, u32)| Entry {
            name: (*name).to_owned(),
            unit: (*file).to_owned(),
            file: (*file).to_owned(),
            line: *line,
            end: *end,
            digest: format!("{name}{release}"),
            is_static: *file != "Objects/b.c",
            calls: Vec::new(),
            strings: Vec::new(),
        };
        let entries: Vec<Entry> = entries.iter().map(entry).collect();
        let files = entries.iter().map(|entry| entry.file.clone()).collect();
        Index { release: release.to_owned(), entries, files }
    }

    #[test]
    fn links_paths_and_lines_are_found() {
        let text = "# see https://github.com/python/cpython/blob/3.13/Objects/longobject.c#L10-L20 (long_or), Objects/object.c:7.";
        let found = citations(text);
        assert_eq!(
            (found[0].reference, found[0].file, found[0].lines),
            (Some("3.13"), "Objects/longobject.c", Some((10, 20)))
        );
        assert_eq!((found[1].reference, found[1].file, found[1].lines), (None, "Objects/object.c", Some((7, 7))));
        assert_eq!(citations("Objects/lnotab_notes.txt Objects/"), []);
    }

    #[test]
    fn lines_that_hold_moved_and_vanished_functions_are_told_apart() {
        let files = "Objects/a.c";
        let old = index(
            "3.13.5",
            &[("long_or", files, 10, 20), ("gone_one", files, 30, 40), ("other_file", "Objects/b.c", 1, 5)],
        );
        let new = index(
            "3.13.15",
            &[
                ("long_or", files, 110, 120),
                ("other_file", "Objects/b.c", 1, 5),
                ("_PyGone_One", files, 50, 60),
                ("gone_one", "Modules/c.c", 1, 5),
            ],
        );
        let mut sources = Sources::default();
        let link = |name: &str, lines: &str| {
            format!("# https://github.com/python/cpython/blob/3.13/Objects/a.c#{lines} ({name})")
        };
        let text = format!(
            "x = 1  {}\ny = 1  {}\nz = 1  {}\n",
            link("long_or", "L12"),
            link("gone_one", "L31"),
            link("other_file", "L1")
        );
        sources.add("t.py", &text).unwrap();
        let facts: slotgen::facts::Facts = slotgen::committed(&crate::place::root().join("generated"), "3.13").unwrap();
        let (audited, mut findings) = (Audited::new(&facts, "t.py".into()), Vec::new());
        let steps = |text: &str| serde_json::json!(text);
        let history = serde_json::json!({
            "schema": "", "releases": [{"release": "3.13.5", "digest": ""}, {"release": "3.13.15", "digest": ""}],
            "functions": {"Objects/a.c": {"long_or": steps("3.13.5 there aa; 3.13.15 meaning bb calls")},
                "Objects/b.c": {"other_file": steps("3.13.5 there aa; 3.13.15 text bb")}}
        });
        let history: History = serde_json::from_value(history).unwrap();
        let references = check(&sources, &[old, new], &history, &audited, &mut findings);
        assert_eq!(references[0].verdicts["3.13.5"], Verdict::Holds);
        assert_eq!(references[0].verdicts["3.13.15"], Verdict::Moved { line: 110, end: 120 });
        let rules: Vec<(&str, u32)> = findings.iter().map(|finding| (finding.rule.as_str(), finding.line)).collect();
        assert_eq!(
            rules,
            [("reference-stale", 1), ("reference-meaning", 1), ("reference-gone", 2), ("reference-moved", 3)]
        );
        assert!(references[2].meaning.said.starts_with("the same meaning"), "{:?}", references[2].meaning);
        assert!(findings[0].advice.contains("L110-L120"));
        assert!(findings[2].advice.contains("_PyGone_One (Objects/a.c#L50-L60)"), "{}", findings[2].advice);
        assert_eq!(findings[2].c_place, None);
    }

    #[test]
    fn tags_and_commits_stay_what_they_are() {
        assert!(is_pinned(Some("v3.13.0")) && is_pinned(Some("e76aa128fe")));
        assert!(!is_pinned(Some("3.13")) && !is_pinned(Some("main")) && !is_pinned(None));
    }
}
