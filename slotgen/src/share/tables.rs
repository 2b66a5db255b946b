//! Tables of rows: a row stands in the folder of the releases that have it, and a release's table is the folders that it takes part in.

use std::collections::BTreeMap;

use super::releases::{Releases, Set};
use crate::emit::File;

/// A table of all releases.
#[derive(Debug)]
pub struct Table {
    /// The module, such as `types`.
    pub module: &'static str,
    /// What it holds, in words.
    pub doc: &'static str,
    /// What the rows need in scope.
    pub uses: &'static str,
    /// The statics of the module.
    pub columns: Vec<Column>,
}

/// A static of a table's module.
#[derive(Debug)]
pub struct Column {
    /// Its name, such as `TYPES`.
    pub name: &'static str,
    /// What its rows say, in words.
    pub doc: &'static str,
    /// The Rust type of a row.
    pub row: &'static str,
    /// Keys and rows of each release.
    pub releases: Vec<BTreeMap<String, String>>,
    /// Whether what is written is the first part of a key, before a zero byte, with the rows under it as lines of one text.
    pub grouped: bool,
}

impl Table {
    /// The files of all sets.
    #[must_use]
    pub fn files(&self, releases: &Releases) -> Vec<File> {
        let mut texts: BTreeMap<Set, String> =
            releases.places().map(|place| (Set::from([place]), String::new())).collect();
        for column in &self.columns {
            for (set, text) in column.texts(self.module, releases) {
                *texts.entry(set).or_default() += &text;
            }
        }
        let head = format!("//! {}\n#[allow(unused_imports)]\nuse {};\n", self.doc, self.uses);
        texts.iter().map(|(set, text)| releases.file(set, self.module, &format!("{head}{text}"))).collect()
    }
}

impl Column {
    /// The rows of each set, and each release's list of what its table is made of.
    fn texts(&self, module: &str, releases: &Releases) -> BTreeMap<Set, String> {
        let sets = self.sets();
        let mut texts = BTreeMap::new();
        for (set, rows) in &sets {
            let words = releases.words(set);
            let head = match set.len() {
                1 => format!("/// What CPython {words} has of its own.\nstatic OWN_{}", self.name),
                _ => format!("/// What CPython {words} have in common.\npub static {}", self.name),
            };
            let rows = if self.grouped {
                grouped(rows)
            } else {
                rows.iter().map(|(_, row)| format!("    {row},\n")).collect()
            };
            let text = format!("\n{head}: &[{}] = &[\n{rows}];\n", self.row);
            texts.insert(set.clone(), text);
        }
        for release in releases.places() {
            let parts = sets.keys().filter(|set| set.contains(&release)).map(|set| match set.len() {
                1 => format!("OWN_{}", self.name),
                _ => format!("crate::{}::{module}::{}", releases.folder(set), self.name),
            });
            let parts = parts.collect::<Vec<_>>().join(", ");
            let text =
                format!("\n/// {}\npub static {}: Rows<{}> = Rows(&[{parts}]);\n", self.doc, self.name, self.row);
            *texts.entry(Set::from([release])).or_default() += &text;
        }
        texts
    }

    /// Keys and rows by the releases that have them, in the order of their keys.
    fn sets(&self) -> BTreeMap<Set, Vec<(&str, &str)>> {
        let mut holders: BTreeMap<(&str, &str), Set> = BTreeMap::new();
        for (release, rows) in self.releases.iter().enumerate() {
            for (key, row) in rows {
                holders.entry((key, row)).or_default().insert(release);
            }
        }
        let mut sets: BTreeMap<Set, Vec<(&str, &str)>> = BTreeMap::new();
        for (row, set) in holders {
            sets.entry(set).or_default().push(row);
        }
        sets
    }
}

/// Rows under the first parts of their keys. A text takes less of a library than rows of names, each of which has an address.
fn grouped(rows: &[(&str, &str)]) -> String {
    let group = |key: &str| key.split('\0').next().unwrap_or_default().to_owned();
    let groups = rows.chunk_by(|(one, _), (other, _)| group(one) == group(other));
    groups
        .map(|rows| {
            let lines: String = rows.iter().map(|(_, row)| format!("        {row}\n")).collect();
            format!("    ({:?}, \"\n{lines}    \"),\n", rows.first().map(|(key, _)| group(key)).unwrap_or_default())
        })
        .collect()
}
