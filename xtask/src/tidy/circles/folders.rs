//! Looks for circles between the entries of each folder.
use super::modules::folder;
use super::resolve::Arrow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The arrows between the entries of one folder.
#[derive(Debug, Default)]
pub struct Folder<'a> {
    /// From entry to entry, with the arrows between files that make it up.
    edges: BTreeMap<(&'a str, &'a str), Vec<&'a Arrow>>,
}

/// Entries that reach each other.
#[derive(Debug)]
pub struct Circle<'a> {
    pub entries: BTreeSet<&'a str>,
    /// Every arrow that takes part in a circle of these entries.
    pub arrows: Vec<&'a Arrow>,
    /// The fewest arrows that form one, in order.
    pub shortest: Vec<&'a Arrow>,
}

impl Circle<'_> {
    /// Whether a sub-folder takes part.
    pub fn has_folder(&self) -> bool {
        self.entries.iter().any(|entry| !entry.ends_with(".rs"))
    }
}

/// Sorts arrows into the folders whose entries they connect.
pub fn folders(arrows: &[Arrow]) -> BTreeMap<&str, Folder<'_>> {
    let mut folders: BTreeMap<&str, Folder<'_>> = BTreeMap::new();
    for arrow in arrows {
        let common = common_folder(&arrow.from, &arrow.to);
        let edge = (entry(common, &arrow.from), entry(common, &arrow.to));
        folders.entry(common).or_default().edges.entry(edge).or_default().push(arrow);
    }
    folders
}

impl<'a> Folder<'a> {
    /// All circles, as groups of entries that reach each other.
    pub fn circles(&self) -> Vec<Circle<'a>> {
        let entries: BTreeSet<&str> = self.edges.keys().flat_map(|(from, to)| [*from, *to]).collect();
        let reached: BTreeMap<&str, BTreeSet<&str>> =
            entries.iter().map(|entry| (*entry, self.reached(entry))).collect();
        let mut seen = BTreeSet::new();
        let mut circles = Vec::new();
        for &start in &entries {
            let group: BTreeSet<&str> =
                reached[start].iter().copied().filter(|entry| reached[entry].contains(start)).collect();
            if group.len() > 1 && seen.insert(group.clone()) {
                circles.push(self.circle(group));
            }
        }
        circles
    }

    fn reached(&self, start: &'a str) -> BTreeSet<&'a str> {
        self.breadth_first(start).keys().copied().collect()
    }

    fn circle(&self, entries: BTreeSet<&'a str>) -> Circle<'a> {
        let inside = |(from, to): &(&str, &str)| entries.contains(from) && entries.contains(to);
        let edges: Vec<(&str, &str)> = self.edges.keys().copied().filter(inside).collect();
        let ways = edges.iter().filter_map(|(from, to)| self.way(to, from).map(|way| [vec![*from], way].concat()));
        let shortest = ways.min_by_key(Vec::len).unwrap_or_default();
        let shortest = shortest
            .windows(2)
            .filter_map(|pair| self.edges.get(&(pair[0], pair[1])))
            .map(|arrows| arrows[0])
            .collect();
        let arrows = edges.iter().flat_map(|edge| self.edges[edge].iter().copied()).collect();
        Circle { entries, arrows, shortest }
    }

    /// The shortest way, both ends included.
    fn way(&self, from: &'a str, to: &'a str) -> Option<Vec<&'a str>> {
        let before = self.breadth_first(from);
        let mut way = vec![to];
        let mut at = *before.get(to)?;
        while let Some(entry) = at {
            way.push(entry);
            at = before[entry];
        }
        way.reverse();
        Some(way)
    }

    /// Each entry that can be reached, with the one before it.
    fn breadth_first(&self, start: &'a str) -> BTreeMap<&'a str, Option<&'a str>> {
        let mut before = BTreeMap::from([(start, None)]);
        let mut queue = VecDeque::from([start]);
        while let Some(entry) = queue.pop_front() {
            for &(_, next) in self.edges.keys().filter(|(from, _)| *from == entry) {
                if !before.contains_key(next) {
                    before.insert(next, Some(entry));
                    queue.push_back(next);
                }
            }
        }
        before
    }
}

/// The deepest folder that holds both files.
fn common_folder<'a>(one: &'a str, other: &str) -> &'a str {
    let mut common = folder(one);
    while !common.is_empty() && !other.strip_prefix(common).is_some_and(|rest| rest.starts_with('/')) {
        common = folder(common);
    }
    common
}

/// The entry of `folder` that holds the file, by its name in the folder.
fn entry<'a>(folder: &str, file: &'a str) -> &'a str {
    let inside = file.get(folder.len()..).unwrap_or(file).trim_start_matches('/');
    inside.split('/').next().unwrap_or(inside)
}
