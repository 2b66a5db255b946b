//! References to CPython in comments: does the place still hold what the comment names, in each release at hand?
use super::audited::{Audited, at};
use super::python::{Remark, Sources};
use crate::audit::findings::{Finding, Severity};
use crate::audit::index::{Entry, Index};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// What a reference is worth in a release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "is")]
pub enum Verdict {
    /// The lines hold the function.
    Holds,
    /// The file has the function at other lines.
    Moved {
        /// Its first line there.
        line: u32,
        /// Its last line there.
        end: u32,
    },
    /// Another file has it.
    Elsewhere {
        /// That file.
        file: String,
        /// Its first line there.
        line: u32,
        /// Its last line there.
        end: u32,
    },
    /// No file has it.
    Gone,
    /// The comment names no function: this is what stands there.
    Unnamed {
        /// The function, type or macro at the lines.
        holds: Option<String>,
    },
}

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
    /// Whether the cited function says the same in the oldest and newest release that the citation may mean.
    pub meaning: String,
}

/// Every reference, checked against the releases, oldest first.
pub fn check(
    sources: &Sources,
    indices: &[Index],
    audited: &Audited<'_>,
    findings: &mut Vec<Finding>,
) -> Vec<Reference> {
    let known: BTreeSet<&str> =
        indices.iter().flat_map(|index| &index.entries).map(|entry| entry.name.as_str()).collect();
    let files: BTreeSet<&str> = indices.iter().flat_map(|index| &index.files).map(String::as_str).collect();
    let places = Places::of(indices);
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
                let reference = judged(remark, line, &cited, names, indices);
                findings.extend(finding(&reference, indices, audited));
                references.push(reference);
            }
        }
    }
    references
}

/// A place of CPython that a line of text names.
#[derive(Debug, PartialEq)]
struct Citation<'t> {
    reference: Option<&'t str>,
    file: &'t str,
    lines: Option<(u32, u32)>,
    /// Where it stands in the text.
    start: usize,
    end: usize,
}

/// Folders of CPython whose C files comments cite.
const FOLDERS: [&str; 4] = ["Objects/", "Python/", "Modules/", "Include/"];

fn citations(text: &str) -> Vec<Citation<'_>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = FOLDERS.iter().filter_map(|folder| text.get(from..)?.find(folder).map(|at| at + from)).min()
    {
        let rest = text.get(start..).unwrap_or_default();
        let length = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "_/.-".contains(c))).unwrap_or(rest.len());
        let file = rest.get(..length).unwrap_or_default().trim_end_matches('.');
        from = start + file.len().max(1);
        if !(file.ends_with(".c") || file.ends_with(".h")) {
            continue;
        }
        let before = text.get(..start).unwrap_or_default();
        let link = before.rfind("/cpython/blob/").map(|at| at + "/cpython/blob/".len());
        let reference =
            link.and_then(|at| before.get(at..)?.strip_suffix('/')).filter(|name| !name.contains([' ', '/']));
        let (lines, length) = line_range(text.get(from..).unwrap_or_default());
        from += length;
        found.push(Citation { reference, file, lines, start, end: from });
    }
    found
}

/// `#L12-L34`, `:12`, `#L12`: the lines, and how long the text is.
fn line_range(text: &str) -> (Option<(u32, u32)>, usize) {
    let Some(rest) = text.strip_prefix("#L").or_else(|| text.strip_prefix(':')) else { return (None, 0) };
    let head = text.len() - rest.len();
    let digits = |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let first = digits(rest);
    let Ok(start) = rest.get(..first).unwrap_or_default().parse::<u32>() else { return (None, 0) };
    let tail = rest.get(first..).unwrap_or_default();
    let second = tail.strip_prefix("-L").or_else(|| tail.strip_prefix('-')).unwrap_or_default();
    match second.get(..digits(second)).unwrap_or_default().parse::<u32>() {
        Ok(end) if end >= start => (Some((start, end)), head + rest.len() - second.len() + digits(second)),
        _ => (Some((start, start)), head + first),
    }
}

/// Which files have a name, and which names more than one file may mean.
struct Places<'i> {
    files: BTreeSet<(&'i str, &'i str)>,
    public: BTreeSet<&'i str>,
}

impl<'i> Places<'i> {
    fn of(indices: &'i [Index]) -> Self {
        let entries = || indices.iter().flat_map(|index| &index.entries);
        let places =
            |entry: &'i Entry| [entry.file.as_str(), entry.unit.as_str()].map(|file| (file, entry.name.as_str()));
        let public = entries().filter(|entry| !entry.is_static).map(|entry| entry.name.as_str());
        Self { files: entries().flat_map(places).collect(), public: public.collect() }
    }
}

/// Identifiers of a text that could be names of C.
fn words(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.filter(|word| word.len() > 3 && !word.starts_with(|c: char| c.is_ascii_digit())).collect()
}

/// What a comment names for a citation: on its line behind it, before it, else on the nearest line around it.
fn names(
    remark: &Remark,
    number: usize,
    cited: &Citation<'_>,
    known: &BTreeSet<&str>,
    places: &Places<'_>,
) -> Vec<String> {
    let line = remark.lines[number].as_str();
    let (before, after) = (line.get(..cited.start).unwrap_or_default(), line.get(cited.end..).unwrap_or_default());
    let after = after.trim_start().strip_prefix('(').and_then(|rest| rest.split(')').next()).unwrap_or_default();
    let near = |offset: isize| -> &str {
        let at = number.checked_add_signed(offset);
        let text = at.and_then(|at| remark.lines.get(at)).map_or("", String::as_str);
        if citations(text).is_empty() { text } else { "" }
    };
    let groups = [after, before, near(-1), near(1), near(-2), near(2)];
    let here = |word: &&str| known.contains(word) && places.files.contains(&(cited.file, *word));
    // What stands right at the citation counts wherever C has it; other words only if the file has them.
    let close = groups.iter().take(2).find_map(|group| some(words(group).into_iter().filter(here).collect()));
    let close = close.or_else(|| some(words(after).into_iter().filter(|word| places.public.contains(word)).collect()));
    let close =
        close.or_else(|| groups.iter().skip(2).find_map(|group| some(words(group).into_iter().filter(here).collect())));
    let mut names: Vec<String> = close.unwrap_or_default().into_iter().map(str::to_owned).collect();
    names.dedup();
    names
}

fn some(words: Vec<&str>) -> Option<Vec<&str>> {
    if words.is_empty() { None } else { Some(words) }
}

fn judged(remark: &Remark, line: u32, cited: &Citation<'_>, names: Vec<String>, indices: &[Index]) -> Reference {
    let verdicts = indices.iter().map(|index| (index.release.clone(), verdict(index, cited, &names))).collect();
    let meaning = meaning(cited, &names, indices);
    Reference {
        path: remark.path.clone(),
        line,
        cited: cited.reference.map(str::to_owned),
        file: cited.file.to_owned(),
        lines: cited.lines,
        names,
        verdicts,
        meaning,
    }
}

fn verdict(index: &Index, cited: &Citation<'_>, names: &[String]) -> Verdict {
    if names.is_empty() {
        let holds = cited.lines.and_then(|(line, _)| index.at(cited.file, line)).map(|entry| entry.name.clone());
        return Verdict::Unnamed { holds };
    }
    let all: Vec<Verdict> = names.iter().map(|name| verdict_of(index, cited, name)).collect();
    // Several names: the lines are right if they hold one of them.
    all.iter().find(|verdict| **verdict == Verdict::Holds).or(all.first()).cloned().unwrap_or(Verdict::Gone)
}

fn verdict_of(index: &Index, cited: &Citation<'_>, name: &str) -> Verdict {
    let own: Vec<&Entry> =
        index.named(name).into_iter().filter(|entry| entry.file == cited.file || entry.unit == cited.file).collect();
    let meets = |entry: &&&Entry| {
        cited.lines.is_none_or(|(start, end)| {
            entry.file == cited.file && entry.line.saturating_sub(2) <= end && start <= entry.end
        })
    };
    match (own.iter().find(meets), own.first()) {
        (Some(_), _) => Verdict::Holds,
        (None, Some(entry)) => Verdict::Moved { line: entry.line, end: entry.end },
        (None, None) => match index.find(name, cited.file).filter(|entry| !entry.is_static) {
            Some(entry) => Verdict::Elsewhere { file: entry.file.clone(), line: entry.line, end: entry.end },
            None => Verdict::Gone,
        },
    }
}

/// Whether the text of the first cited function is the same in the release cited and in the newest one.
fn meaning(cited: &Citation<'_>, names: &[String], indices: &[Index]) -> String {
    let (Some(name), Some(newest)) = (names.first(), indices.last()) else {
        return "not known: no function is named".to_owned();
    };
    let Some(from) = meant(cited.reference, indices) else {
        return "not known: the release cited is not at hand".to_owned();
    };
    let digest = |index: &Index| index.find(name, cited.file).map(|entry| entry.digest.clone());
    match (digest(from), digest(newest)) {
        (Some(old), Some(new)) if old == new => format!("the same text in {} and {}", from.release, newest.release),
        (Some(_), Some(_)) => format!(
            "another text in {} than in {}; whether the meaning changed is not known",
            from.release, newest.release
        ),
        _ => "not known: a release has no such function".to_owned(),
    }
}

/// The release at hand that is nearest to what a citation means: the oldest of its series, as the series goes on.
fn meant<'i>(reference: Option<&str>, indices: &'i [Index]) -> Option<&'i Index> {
    let name = reference?.trim_start_matches('v');
    let series: Vec<&str> = name.split('.').take(2).collect();
    let series = format!("{}.", series.join("."));
    indices.iter().find(|index| index.release.starts_with(&series))
}

/// Whether a citation goes on to mean the same text: a tag or a commit does, a branch or a bare path does not.
fn is_pinned(reference: Option<&str>) -> bool {
    let commit = |name: &str| name.len() >= 7 && name.chars().all(|c| c.is_ascii_hexdigit());
    reference.is_some_and(|name| name.starts_with('v') && name.contains('.') || commit(name))
}

fn finding(reference: &Reference, indices: &[Index], audited: &Audited<'_>) -> Option<Finding> {
    let cited = reference.cited.as_deref();
    // A branch of another series is judged by that series; all else by the newest release.
    let index = match cited {
        Some(name) if !is_pinned(cited) => indices
            .iter()
            .rev()
            .find(|index| index.release.starts_with(&format!("{name}.")))
            .or(indices.last().filter(|_| name == "main"))?,
        _ => indices.last()?,
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
            "Find what took its place (`cargo xtask diff`), and mirror that.".to_owned(),
        ),
    };
    let mut found = audited.finding(rule, severity, message, &advice, at(&reference.path, reference.line));
    let entry = index.find(name, &reference.file);
    found.function = Some(name.to_owned());
    found.c_place = entry.map(|entry| format!("{}:{}", entry.file, entry.line));
    found.digest = entry.map(|entry| entry.digest.clone()).filter(|digest| !digest.is_empty());
    found.release.clone_from(release);
    found.subject = format!("{name} {shown}");
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(release: &str, entries: &[(&str, &str, u32, u32)]) -> Index {
        let entry = |(name, file, line, end): &(&str, &str, u32, u32)| Entry {
            name: (*name).to_owned(),
            unit: (*file).to_owned(),
            file: (*file).to_owned(),
            line: *line,
            end: *end,
            digest: format!("{name}{release}"),
            is_static: *file == "Objects/a.c",
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
        let new = index("3.13.15", &[("long_or", files, 110, 120), ("other_file", "Objects/b.c", 1, 5)]);
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
        let references = check(&sources, &[old, new], &audited, &mut findings);
        assert_eq!(references[0].verdicts["3.13.5"], Verdict::Holds);
        assert_eq!(references[0].verdicts["3.13.15"], Verdict::Moved { line: 110, end: 120 });
        let rules: Vec<(&str, u32)> = findings.iter().map(|finding| (finding.rule.as_str(), finding.line)).collect();
        assert_eq!(rules, [("reference-stale", 1), ("reference-gone", 2), ("reference-moved", 3)]);
        assert!(findings[0].advice.contains("L110-L120"));
    }

    #[test]
    fn tags_and_commits_stay_what_they_are() {
        assert!(is_pinned(Some("v3.13.0")) && is_pinned(Some("e76aa128fe")));
        assert!(!is_pinned(Some("3.13")) && !is_pinned(Some("main")) && !is_pinned(None));
    }
}
