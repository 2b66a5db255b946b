//! Does the place that a comment cites hold what it names?
use super::citations::Citation;
use crate::audit::index::{Entry, Index};
use serde::Serialize;

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

/// What a citation that names these is worth.
pub fn verdict(index: &Index, cited: &Citation<'_>, names: &[String]) -> Verdict {
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
