//! What a comment names for a place of CPython.
use super::citations::{Citation, citations};
use crate::audit::dynamo::python::Remark;
use crate::audit::index::{Entry, Index};
use std::collections::BTreeSet;

/// Which files have a name, and which names more than one file may mean.
pub struct Places<'i> {
    files: BTreeSet<(&'i str, &'i str)>,
    public: BTreeSet<&'i str>,
}

impl<'i> Places<'i> {
    pub fn of(indices: &'i [Index]) -> Self {
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
pub fn names(
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
