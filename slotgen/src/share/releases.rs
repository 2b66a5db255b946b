//! The releases that Rust is made of, sets of them, and the folder that belongs to each set.

use std::collections::BTreeSet;

use crate::emit::{File, Header};

/// Some of the releases, by their places in [`Releases`].
pub type Set = BTreeSet<usize>;

/// The releases that Rust is made of, oldest first.
#[derive(Debug, Clone, Default)]
pub struct Releases(Vec<Header>);

impl Releases {
    /// These releases, oldest first.
    #[must_use]
    pub fn new(headers: Vec<Header>) -> Self {
        Self(headers)
    }

    /// Places of the releases.
    pub fn places(&self) -> std::ops::Range<usize> {
        0..self.0.len()
    }

    /// All of them.
    #[must_use]
    pub fn all(&self) -> Set {
        self.places().collect()
    }

    /// What the series of a release is, such as `3.13`.
    #[must_use]
    pub fn series(&self, place: usize) -> &str {
        self.0.get(place).map_or("", |header| &header.series)
    }

    /// The module of a set: `v3_13` of one release, `shared` of all, `v3_11_v3_13` of others.
    #[must_use]
    pub fn folder(&self, set: &Set) -> String {
        if set.len() > 1 && *set == self.all() {
            return "shared".to_owned();
        }
        let names = set.iter().map(|place| format!("v{}", self.series(*place).replace('.', "_")));
        names.collect::<Vec<_>>().join("_")
    }

    /// Which releases a set is, in words.
    #[must_use]
    pub fn words(&self, set: &Set) -> String {
        set.iter().map(|place| self.series(*place)).collect::<Vec<_>>().join(", ")
    }

    /// A file of the set's folder.
    #[must_use]
    pub fn file(&self, set: &Set, name: &str, text: &str) -> File {
        self.at(set, format!("src/{}/{name}.rs", self.folder(set)), text)
    }

    /// A file that all releases give.
    #[must_use]
    pub fn of_all(&self, path: &str, text: &str) -> File {
        self.at(&self.all(), path.to_owned(), text)
    }

    fn at(&self, set: &Set, path: String, text: &str) -> File {
        File { path, text: format!("{}\n\n{text}", self.header(set)) }
    }

    /// The header of what comes from these releases.
    #[must_use]
    pub fn header(&self, set: &Set) -> Header {
        let of = |field: fn(&Header) -> &str, between: &str| {
            let headers = set.iter().filter_map(|place| self.0.get(*place));
            headers.map(field).collect::<Vec<_>>().join(between)
        };
        Header {
            release: of(|header| &header.release, ", "),
            series: of(|header| &header.series, " "),
            digest: of(|header| &header.digest, ", "),
        }
    }
}
